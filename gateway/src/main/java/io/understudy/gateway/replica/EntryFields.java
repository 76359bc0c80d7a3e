package io.understudy.gateway.replica;

/** The fields of entries in a response. */
public enum EntryFields {
    ALL,
    WITHOUT_VALUE,
    WITHOUT_VALUE_AND_LEASE
}
