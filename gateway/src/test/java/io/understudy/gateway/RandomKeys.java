package io.understudy.gateway;

import com.google.protobuf.ByteString;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Keys that are easily mistaken for each other: short, of few and extreme bytes, many a prefix of others. */
final class RandomKeys {

    private static final byte[] ALPHABET = {0, 1, 'a', 'b', 0x7f, (byte) 0x80, (byte) 0xff};

    private final Random random;
    private final List<ByteString> used = new ArrayList<>();

    RandomKeys(Random random, int size) {
        this.random = random;
        for (int i = 0; i < size; i++) {
            used.add(fresh());
        }
    }

    /** Returns one of the written keys. */
    ByteString used() {
        return used.get(random.nextInt(used.size()));
    }

    /** Returns mostly a key that was written, else one that may not exist. */
    ByteString any() {
        return random.nextInt(5) > 0 ? used() : fresh();
    }

    private ByteString fresh() {
        byte[] key = new byte[1 + random.nextInt(4)];
        for (int i = 0; i < key.length; i++) {
            key[i] = ALPHABET[random.nextInt(ALPHABET.length)];
        }
        return ByteString.copyFrom(key);
    }
}
