package io.understudy.gateway.api;

/** The result of a range or a read-only transaction, independent of its wire format. */
public sealed interface OpResult permits RangeResult, TxnResult {

    /** As {@link AnswerBody#keep}. */
    Runnable keep(Runnable end);
}
