package io.understudy.vocabulary;

/**
 * The id every member of a cluster puts into each response header. A cluster restored from a backup may keep it.
 *
 * @param value unsigned 64 bits
 */
public record ClusterId(long value) {

    /** The id as etcd's tools print it: hexadecimal without leading zeros. */
    @Override
    public String toString() {
        return Long.toHexString(value);
    }
}
