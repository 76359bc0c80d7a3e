package io.understudy.gateway.replica;

/** Which fields of its entries an answer has. */
public enum EntryFields {
    ALL,
    WITHOUT_VALUE,
    WITHOUT_VALUE_AND_LEASE
}
