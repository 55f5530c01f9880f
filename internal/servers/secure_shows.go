package servers

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"math/big"
	"net"
	"testing"
)

// Shows is the number of the certificate that the server shows who connects.
func (s *Secure) Shows(t testing.TB) *big.Int {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), startTime)
	defer cancel()
	n, err := s.shows(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func (s *Secure) shows(ctx context.Context) (*big.Int, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", s.TLSAddr)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	if deadline, ok := ctx.Deadline(); ok {
		conn.SetDeadline(deadline)
	}
	if s.greet != nil {
		if err := s.greet(conn); err != nil {
			return nil, err
		}
	}
	client := tls.Client(conn, &tls.Config{InsecureSkipVerify: true}) // whether it is valid is for others to say
	if err := client.HandshakeContext(ctx); err != nil {
		return nil, err
	}
	return client.ConnectionState().PeerCertificates[0].SerialNumber, nil
}

// greetPostgres asks for TLS: www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-SSL.
func greetPostgres(c net.Conn) error {
	_, err := c.Write([]byte{0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f})
	answer := make([]byte, 1)
	if err == nil {
		_, err = io.ReadFull(c, answer)
	}
	if err == nil && answer[0] != 'S' {
		err = fmt.Errorf("it answers %q, and not that it speaks TLS", answer)
	}
	return err
}

// greetMySQL reads what the server says first, and asks for TLS:
// dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_connection_phase_packets_protocol_ssl_request.html.
func greetMySQL(c net.Conn) error {
	head := make([]byte, 4)
	if _, err := io.ReadFull(c, head); err != nil {
		return err
	}
	length := int64(head[0]) | int64(head[1])<<8 | int64(head[2])<<16
	if _, err := io.CopyN(io.Discard, c, length); err != nil {
		return err
	}
	ask := make([]byte, 36)
	ask[0], ask[3] = 32, 1                    // so many bytes follow, and it is the second packet
	ask[4], ask[5], ask[6] = 0x00, 0x8a, 0x08 // protocol 4.1, TLS, a long answer to the challenge, plugins
	ask[12] = 45                              // utf8mb4
	_, err := c.Write(ask)
	return err
}
