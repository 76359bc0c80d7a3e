package io.understudy.gateway.permission;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.understudy.gateway.api.Permission;
import io.understudy.gateway.caller.Principal;
import io.understudy.gateway.permission.Authorizer.PermissionRequest;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** Memory and lifetime of cached grants. */
final class GrantsTest {

    private static final int MOST_BYTES = 32 << 20;

    private final AtomicLong clock = new AtomicLong();
    private final Grants grants = new Grants(Duration.ofSeconds(1), clock::get);

    @Test
    void widerGrantsUseBoundedMemory() {
        ByteString part = ByteString.copyFromUtf8("x".repeat(400) + "/");
        for (int user = 0; user < 4_000; user++) {
            Principal principal = new Principal.Token("user" + user + "." + user);
            for (int i = 0; i < 16; i++) {
                ByteString key =
                        ByteString.copyFromUtf8("/" + i + "/").concat(part).concat(part);
                Permission.Read read = new Permission.Read(key, ByteString.EMPTY);
                Permission.Read guess = grants.guess(principal, read, i);
                assertThat(guess).isNotNull();
                if (i % 2 == 0) {
                    grants.guessedRight(principal, new Permission.Read(key, key.concat(part)), i);
                } else {
                    grants.guessedWrong(principal, new Permission.Read(key, key.concat(part)), i);
                }
            }
        }
        assertThat(grants.wideBytes()).isBetween(MOST_BYTES / 2L, (long) MOST_BYTES);
    }

    @Test
    void veryLongKeysYieldNoGuess() {
        ByteString key = ByteString.copyFromUtf8("/a/" + "x".repeat(1 << 20) + "/");
        assertThat(grants.guess(new Principal.Token("t.1"), new Permission.Read(key, ByteString.EMPTY), 0))
                .isNull();
    }

    @Test
    void aPrincipalIsKnownAsLongAsItIsGrantedPermissions() {
        Principal principal = new Principal.Token("t.1");
        Permission.Read read = new Permission.Read(ByteString.copyFromUtf8("/a/b"), ByteString.EMPTY);
        grants.guessedRight(principal, read, 0);
        for (int i = 0; i < 4; i++) {
            clock.addAndGet(Duration.ofSeconds(50).toNanos());
            assertThat(grants.hasRecentGrants(principal)).isTrue();
            if (i % 2 == 0) {
                grants.renewed(principal, read, clock.get());
            } else {
                grants.granted(new PermissionRequest(principal, read), clock.get());
            }
        }
        clock.addAndGet(Duration.ofSeconds(61).toNanos());
        assertThat(grants.hasRecentGrants(principal)).isFalse();
    }

    /** Guesses are copies and retain no part of the request. */
    @Test
    void aGuessIsThePrefixUpToASlash() {
        Principal principal = new Principal.Token("t.1");
        Permission.Read read = new Permission.Read(ByteString.copyFromUtf8("/a/b"), ByteString.EMPTY);
        Permission.Read all = grants.guess(principal, read, 0);
        assertThat(all).isNotNull();
        grants.guessedWrong(principal, all, 0);
        assertThat(grants.guess(principal, read, 0))
                .isEqualTo(new Permission.Read(ByteString.copyFromUtf8("/a/"), ByteString.copyFromUtf8("/a0")));
    }
}
