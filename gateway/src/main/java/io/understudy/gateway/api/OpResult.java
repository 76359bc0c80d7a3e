package io.understudy.gateway.api;

/** What one operation came to: a range, or a transaction of them. To be put into a wire form by whoever answers. */
public sealed interface OpResult permits RangeResult, TxnResult {}
