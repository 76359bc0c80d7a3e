package io.understudy.gateway.permission;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.understudy.gateway.api.Permission;
import io.understudy.gateway.permission.RoleAuthorizer.ReadableKeys;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Union of the permissions of all roles. */
final class ReadableKeysTest {

    @Test
    void adjacentPermissionsAreMerged() {
        ReadableKeys readable = ReadableKeys.of(List.of(
                permission(io.etcd.jetcd.api.Permission.Type.READ, "c", "e"),
                permission(io.etcd.jetcd.api.Permission.Type.READWRITE, "a", "c"),
                permission("m", "")));
        assertThat(readable.covers(read("a", "e"))).isTrue();
        assertThat(readable.covers(read("b", "d"))).isTrue();
        assertThat(readable.covers(read("a", "e\0"))).isFalse();
        assertThat(readable.covers(read("a", "\0"))).isFalse();
        assertThat(readable.covers(read("m", ""))).isTrue();
        assertThat(readable.covers(read("m", "m\0"))).isTrue();
        assertThat(readable.covers(read("m\0", ""))).isFalse();
        assertThat(readable.covers(read("", ""))).isFalse();
    }

    @Test
    void writePermissionsDoNotPermitReads() {
        assertThat(ReadableKeys.of(List.of(permission(io.etcd.jetcd.api.Permission.Type.WRITE, "a", "c")))
                        .covers(read("a", "")))
                .isFalse();
    }

    @Test
    void aZeroByteAsRangeEndCoversAllLaterKeys() {
        ReadableKeys readable = ReadableKeys.of(List.of(permission("b", "\0"), permission("a", "b")));
        assertThat(readable.covers(read("a", "\0"))).isTrue();
        assertThat(readable.covers(read("x", "z"))).isTrue();
        assertThat(readable.covers(read("\0", "\0"))).isFalse();
    }

    /** Compares with a check of each key, in a small key space. */
    @Test
    void aRangeIsReadableIfEachOfItsKeysIs() {
        long seed = Long.getLong("understudy.seed", System.nanoTime());
        Random random = new Random(seed);
        for (int i = 0; i < 3_000; i++) {
            List<io.etcd.jetcd.api.Permission> permissions = new ArrayList<>();
            boolean[] may = new boolean[26];
            for (int j = random.nextInt(6); j > 0; j--) {
                int from = random.nextInt(26);
                int to = from + 1 + random.nextInt(26 - from);
                permissions.add(permission(letter(from), letter(to)));
                Arrays.fill(may, from, to, true);
            }
            ReadableKeys readable = ReadableKeys.of(permissions);
            int from = random.nextInt(26);
            int to = from + 1 + random.nextInt(26 - from);
            boolean all = IntStream.range(from, to).allMatch(key -> may[key]);
            assertThat(readable.covers(read(letter(from), letter(to))))
                    .as("seed %d, %s from %s to %s", seed, permissions, letter(from), letter(to))
                    .isEqualTo(all);
            assertThat(readable.covers(read(letter(from), ""))).isEqualTo(may[from]);
        }
    }

    private static String letter(int number) {
        return String.valueOf((char) ('a' + number));
    }

    private static Permission.Read read(String key, String end) {
        return new Permission.Read(ByteString.copyFromUtf8(key), ByteString.copyFromUtf8(end));
    }

    private static io.etcd.jetcd.api.Permission permission(String key, String end) {
        return permission(io.etcd.jetcd.api.Permission.Type.READ, key, end);
    }

    private static io.etcd.jetcd.api.Permission permission(
            io.etcd.jetcd.api.Permission.Type type, String key, String end) {
        return io.etcd.jetcd.api.Permission.newBuilder()
                .setPermType(type)
                .setKey(ByteString.copyFromUtf8(key))
                .setRangeEnd(ByteString.copyFromUtf8(end))
                .build();
    }
}
