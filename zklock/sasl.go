package zklock

import (
	"crypto/md5"
	"crypto/rand"
	"crypto/subtle"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/holdfast-go/holdfast/driver"
)

// SASL by DIGEST-MD5, RFC 2831, with the names that ZooKeeper's own client has. Kerberos is not possible.
const (
	opSasl    = 102
	saslXid   = 0
	digestURI = "zookeeper/zk-sasl-md5"
	saslCount = "00000001" // each nonce is used once
)

// authenticate tells the server who the client is by SASL, so that the password is not sent.
func (h *handshake) authenticate() error {
	challenge, err := h.saslStep(nil)
	if err != nil {
		return err
	}
	d, err := newDigest(h.link.user, h.link.password, challenge)
	if err != nil {
		return err
	}
	verdict, err := h.saslStep([]byte(d.reply()))
	if err != nil {
		return err
	}
	return d.verify(verdict)
}

// saslStep sends a token and returns the server's.
func (h *handshake) saslStep(token []byte) ([]byte, error) {
	body := binary.BigEndian.AppendUint32(nil, saslXid)
	body = binary.BigEndian.AppendUint32(body, opSasl)
	body = append(binary.BigEndian.AppendUint32(body, uint32(len(token))), token...)
	answer, err := h.exchange(body)
	if err != nil {
		return nil, err
	}
	if len(answer) < 4 {
		return nil, errCutShort
	}
	switch length := int32(binary.BigEndian.Uint32(answer)); {
	case length < 0: // none, from a server without SASL
		return nil, nil
	case int(length) > len(answer)-4:
		return nil, errCutShort
	default:
		return answer[4 : 4+length], nil
	}
}

var errCutShort = errors.New("the server's answer about SASL is cut short")

// A digest is what one authentication needs.
type digest struct{ user, password, realm, nonce, cnonce string }

func newDigest(user, password string, challenge []byte) (digest, error) {
	said := directives(string(challenge))
	d := digest{user: user, password: password, realm: said["realm"], nonce: said["nonce"], cnonce: rand.Text()}
	if d.nonce == "" || said["algorithm"] != "md5-sess" {
		return d, fmt.Errorf("%w: the server does not offer SASL by DIGEST-MD5; "+
			"its JAAS configuration needs a section Server", driver.ErrRefused)
	}
	return d, nil
}

func (d digest) reply() string {
	return fmt.Sprintf(
		`charset=utf-8,username=%s,realm=%s,nonce=%s,nc=%s,cnonce=%s,digest-uri="%s",maxbuf=65536,response=%s,qop=auth`,
		quoted(d.user), quoted(d.realm), quoted(d.nonce), saslCount, quoted(d.cnonce),
		digestURI, d.response("AUTHENTICATE"))
}

// response is the proof of the password: the client's, or without a method the server's.
func (d digest) response(method string) string {
	secret := md5.Sum([]byte(d.user + ":" + d.realm + ":" + d.password))
	session := hash(string(secret[:]) + ":" + d.nonce + ":" + d.cnonce)
	parts := []string{session, d.nonce, saslCount, d.cnonce, "auth", hash(method + ":" + digestURI)}
	return hash(strings.Join(parts, ":"))
}

// verify reports a server that does not know the password.
func (d digest) verify(verdict []byte) error {
	said := directives(string(verdict))["rspauth"]
	if subtle.ConstantTimeCompare([]byte(said), []byte(d.response(""))) != 1 {
		return fmt.Errorf("%w: the server did not prove that it knows the password", driver.ErrRefused)
	}
	return nil
}

func hash(s string) string {
	sum := md5.Sum([]byte(s))
	return hex.EncodeToString(sum[:])
}

func quoted(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

// directives are the key=value pairs of a challenge, with or without quotes.
func directives(s string) map[string]string {
	found := make(map[string]string)
	for s != "" {
		key, rest, _ := strings.Cut(s, "=")
		value := ""
		if strings.HasPrefix(rest, `"`) {
			value, rest = unquote(rest[1:])
			_, s, _ = strings.Cut(rest, ",")
		} else {
			value, s, _ = strings.Cut(rest, ",")
		}
		found[strings.TrimSpace(key)] = value
	}
	return found
}

// unquote returns what is before the closing quote, and what is behind it.
func unquote(s string) (value, rest string) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '"':
			return b.String(), s[i+1:]
		case s[i] == '\\' && i+1 < len(s):
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String(), ""
}
