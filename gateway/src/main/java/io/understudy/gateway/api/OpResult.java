package io.understudy.gateway.api;

/** The result of one operation, a range or a transaction of them, independent of its wire format. */
public sealed interface OpResult permits RangeResult, TxnResult {}
