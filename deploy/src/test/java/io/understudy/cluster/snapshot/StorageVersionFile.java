package io.understudy.cluster.snapshot;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** A database of bbolt with nothing but a storage version. */
public final class StorageVersionFile {

    private static final int PAGE = 4096;
    private static final int ROOT = 2;

    private StorageVersionFile() {}

    public static void write(Path file, String version) throws IOException {
        byte[] bucket = leaf(0, "storageVersion", version.getBytes(StandardCharsets.UTF_8));
        // An inline bucket has a header of 16 bytes and no page of its own.
        byte[] inline = new byte[16 + bucket.length];
        System.arraycopy(bucket, 0, inline, 16, bucket.length);
        byte[] content = new byte[3 * PAGE];
        ByteBuffer all = ByteBuffer.wrap(content).order(ByteOrder.LITTLE_ENDIAN);
        all.putInt(16, 0xED0CDAED).putInt(20, 2).putInt(24, PAGE).putLong(32, ROOT);
        long hash = 0xcbf29ce484222325L;
        for (int i = 16; i < 72; i++) {
            hash = (hash ^ Byte.toUnsignedLong(all.get(i))) * 0x100000001b3L;
        }
        all.putLong(72, hash).put(ROOT * PAGE, leaf(1, "meta", inline));
        Files.write(file, content);
    }

    private static byte[] leaf(int flags, String key, byte[] value) {
        byte[] content = new byte[32 + key.length() + value.length];
        ByteBuffer unused = ByteBuffer.wrap(content)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putShort(8, (short) 2)
                .putShort(10, (short) 1)
                .putInt(16, flags)
                .putInt(20, 16)
                .putInt(24, key.length())
                .putInt(28, value.length)
                .put(32, key.getBytes(StandardCharsets.UTF_8))
                .put(32 + key.length(), value);
        return content;
    }
}
