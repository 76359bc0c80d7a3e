package io.understudy.vocabulary;

/**
 * The id of one member of a cluster.
 *
 * @param value unsigned 64 bits
 */
public record MemberId(long value) {

    /** The id as etcd's tools print it: hexadecimal without leading zeros. */
    @Override
    public String toString() {
        return Long.toHexString(value);
    }
}
