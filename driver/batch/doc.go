// Package batch sends operations to a driver: alone where that is quicker, and together where many are under way.
//
// A [Sender] keeps these rules.
//
//  1. Operations have lanes: one for each shard of the engine and each class of operations. Classes are renewals (a
//     request of a claim that has its token, or a brief one), reads, and all other changes. Renewals have a lane for
//     each magnitude of their limits: one with little time shares no batch with one that has much, because the next
//     renewal of its claim may have to wait for the end of the batch. Lanes never wait for each other.
//  2. While fewer than Traits.Alone operations of a lane are under way and none has gathered, an operation of
//     [Sender.Do] is sent at once, alone, on the goroutine of its caller. Callers that have been answered, and do not
//     run yet, count for that: they may be about to ask for more. Where Traits.Alone is 0, each operation of
//     [Sender.Do] is sent so; no lane counts it unless Traits.MaxInFlight bounds attempts.
//  3. Otherwise it gathers with others. What has gathered leaves in order, at most 512 operations at a time,
//     when fewer than Traits.MaxInFlight attempts of the lane are under way. First all goroutines that can run
//     get to, because they may have something to add, unless Traits.Full operations of Do have gathered. An
//     operation to which nothing was added is sent alone, too.
//  4. An attempt that takes longer than usual is stalled, and does not count for that; so nobody waits behind a
//     slow batch for long. At most eight attempts of a lane are stalled. While there are so many, operations
//     may gather until their limit has passed, and have done nothing then.
//  5. Two operations on one claim are never under way together. The second waits for the end of the first.
//  6. An operation that is given up while it gathers, because its context or its limit has ended, is taken out,
//     and its error matches driver.ErrUnsent: there is nothing to undo. The outcome of one that is given up
//     while it is under way is unknown. An attempt is cancelled when nobody waits for any of its operations.
//     Where it ends with the limit of an operation, the driver has a quarter of that limit to say why.
//  7. An operation whose batch was rejected (driver.ErrBatchRejected) is sent once more, alone. One of which a
//     part was done (Result.Again) is sent again at once. Nothing else is repeated.
//  8. A panic of the driver goes up to the first caller of the batch. The outcome of the other operations is
//     unknown.
//  9. The context of a batch has the values of the context of its first operation.
//
// Between operations on different claims no order is kept.
package batch
