package io.understudy.consumer.format;

import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/**
 * Number of keys in a state, and the sum of their hashes. Commits update it without a read of the state.
 *
 * <p>It covers keys, not values: a stray record removes its key from the state that a reader builds, so the keys suffice to
 * detect one. As text, {@code 3:00112233445566ff}: the number, then the sum in hexadecimal.
 *
 * @param sum over all keys, modulo 2<sup>64</sup>, of the first eight bytes of the key's SHA-256
 */
public record StateDigest(long keys, long sum) {

    /** Of a state without keys. */
    public static final StateDigest EMPTY = new StateDigest(0, 0);

    private static final int RADIX = 16;

    static StateDigest parse(String text) {
        int colon = text.indexOf(':');
        if (colon < 0) {
            throw new IllegalArgumentException("state digest must be KEYS:SUM, is " + text);
        }
        return new StateDigest(
                Long.parseLong(text.substring(0, colon)), Long.parseUnsignedLong(text.substring(colon + 1), RADIX));
    }

    /** The digest with a key that the state did not hold. */
    public StateDigest with(ByteBuffer key) {
        return new StateDigest(keys + 1, sum + hash(key));
    }

    /** The digest without a key that the state held. */
    public StateDigest without(ByteBuffer key) {
        return new StateDigest(keys - 1, sum - hash(key));
    }

    /**
     * Returns the digest after the next change. Version 1 is a created key; etcd deletes existing keys only.
     *
     * @param version of a put; 0 for a delete
     */
    public StateDigest after(ByteBuffer key, long version) {
        return version == 0 ? without(key) : version == 1 ? with(key) : this;
    }

    @Override
    public String toString() {
        return String.format("%d:%016x", keys, sum);
    }

    /** The first eight bytes of the key's SHA-256. */
    public static long hash(ByteBuffer key) {
        try {
            MessageDigest sha = MessageDigest.getInstance("SHA-256");
            sha.update(key.duplicate());
            return ByteBuffer.wrap(sha.digest()).getLong();
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("SHA-256 is not available", e);
        }
    }
}
