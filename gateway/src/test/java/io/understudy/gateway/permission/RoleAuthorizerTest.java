package io.understudy.gateway.permission;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.grpc.Status;
import io.understudy.gateway.api.Permission;
import io.understudy.gateway.caller.Principal;
import io.understudy.gateway.permission.Authorizer.Verdict;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Reads of users and roles, and the resulting verdicts. */
@Timeout(30)
final class RoleAuthorizerTest {

    private static final Principal.Certificate GUEST = new Principal.Certificate("guest");
    private static final Duration SOON = Duration.ofSeconds(5);

    /** Longer than a revision may be used without a check. */
    private static final Duration AGE = Duration.ofMillis(1_100);

    private final AtomicLong clock = new AtomicLong(System.nanoTime());

    private final Map<String, List<String>> users = new ConcurrentHashMap<>();
    private final Map<String, List<io.etcd.jetcd.api.Permission>> roles = new ConcurrentHashMap<>();
    private final AtomicInteger revisionReads = new AtomicInteger();
    private final AtomicInteger usersRead = new AtomicInteger();
    private volatile long revision = 1;
    private volatile boolean away;
    private volatile Runnable whenRead = () -> {};
    private volatile @Nullable CompletableFuture<Long> nextRevision;

    private final RoleAuthorizer authorizer = new RoleAuthorizer(
            new RoleSource() {
                @Override
                public CompletableFuture<Long> revision() {
                    revisionReads.incrementAndGet();
                    CompletableFuture<Long> scripted = nextRevision;
                    nextRevision = null;
                    if (scripted != null) {
                        return scripted;
                    }
                    return away
                            ? CompletableFuture.failedFuture(Status.UNAVAILABLE.asRuntimeException())
                            : CompletableFuture.completedFuture(revision);
                }

                @Override
                public CompletableFuture<Optional<List<String>>> rolesOf(String user) {
                    usersRead.incrementAndGet();
                    var roleNames = Optional.ofNullable(users.get(user));
                    whenRead.run();
                    return CompletableFuture.completedFuture(roleNames);
                }

                @Override
                public CompletableFuture<List<io.etcd.jetcd.api.Permission>> permissionsOf(String role) {
                    return CompletableFuture.completedFuture(roles.getOrDefault(role, List.of()));
                }
            },
            clock::get);

    @BeforeEach
    void guestReadsTheScript() {
        users.put("guest", List.of("prompter", "gone"));
        roles.put("prompter", List.of(permission("script")));
        users.put("admin", List.of("root"));
    }

    @Test
    void permissionsOfAllRolesApply() {
        assertThat(isGranted(GUEST, read("script"))).isTrue();
        assertThat(isGranted(GUEST, read("stage"))).isFalse();
        assertThat(isGranted(GUEST, Permission.Standing.ROOT)).isFalse();
        assertThat(isGranted(new Principal.Certificate("admin"), read("stage"))).isTrue();
        assertThat(isGranted(new Principal.Certificate("admin"), Permission.Standing.ROOT))
                .isTrue();
    }

    @Test
    void unknownUsersAreDenied() {
        Principal.Certificate stranger = new Principal.Certificate("stranger");
        assertThat(refusal(stranger, read("script"))).isEqualTo("etcdserver: permission denied");
        assertThat(refusal(stranger, Permission.Standing.ROOT)).isEqualTo("etcdserver: user name not found");
        assertThat(refusal(Principal.Certificate.UNREADABLE, read("script")))
                .isEqualTo("etcdserver: permission denied");
        assertThat(isGranted(stranger, Permission.Standing.USER)).isTrue();
    }

    @Test
    void aUserIsReadAgainAfterAChangeOnly() {
        assertThat(isGranted(GUEST, read("script"))).isTrue();
        assertThat(isGranted(GUEST, read("script"))).isTrue();
        assertThat(usersRead).hasValue(1);
        pass(AGE);
        assertThat(isGranted(GUEST, read("script"))).isTrue();
        assertThat(usersRead).hasValue(1);
        assertThat(revisionReads).hasValue(3);

        roles.put("prompter", List.of(permission("stage")));
        revision = 2;
        pass(AGE);
        assertThat(isGranted(GUEST, read("script"))).isFalse();
        assertThat(isGranted(GUEST, read("stage"))).isTrue();
        assertThat(usersRead).hasValue(2);
    }

    /** Otherwise old role names would be combined with new permissions. */
    @Test
    void aUserIsReadAgainIfTheRevisionChangesMeanwhile() {
        whenRead = () -> {
            if (revision == 1) {
                users.put("guest", List.of());
                revision = 2;
            }
        };
        assertThat(isGranted(GUEST, read("script"))).isFalse();
        assertThat(usersRead).hasValue(2);
    }

    /** Otherwise a permission would be used that was revoked before the second request. */
    @Test
    void aReadOfAnEarlierRevisionIsNotShared() {
        CompletableFuture<Long> late = new CompletableFuture<>();
        whenRead = () -> {
            whenRead = () -> {};
            nextRevision = late;
        };
        var before = authorizer.authorize(GUEST, read("script"));
        users.put("guest", List.of());
        revision = 2;
        pass(AGE);
        var after = authorizer.authorize(GUEST, read("script"));
        late.complete(1L);
        assertThat(before).isCompletedWithValue(Verdict.GRANTED);
        assertThat(after.join()).isInstanceOf(Verdict.Refused.class);
    }

    @Test
    void requestsAreDeniedWhileTheRevisionIsUnknown() {
        assertThat(isGranted(GUEST, read("script"))).isTrue();
        away = true;
        pass(AGE);
        assertThat(authorizer.authorize(GUEST, read("script"))).isCompletedExceptionally();
        int before = revisionReads.get();
        for (int i = 0; i < 100; i++) {
            assertThat(authorizer.authorize(GUEST, read("script"))).failsWithin(SOON);
        }
        assertThat(revisionReads).hasValue(before);
        away = false;
        pass(AGE);
        assertThat(isGranted(GUEST, read("script"))).isTrue();
    }

    private void pass(Duration time) {
        clock.addAndGet(time.toNanos());
    }

    private boolean isGranted(Principal.Certificate principal, Permission wanted) {
        return authorizer
                        .authorize(principal, wanted)
                        .orTimeout(5, TimeUnit.SECONDS)
                        .join()
                instanceof Verdict.Granted;
    }

    private String refusal(Principal.Certificate principal, Permission wanted) {
        return ((Verdict.Refused) authorizer.authorize(principal, wanted).join())
                .why()
                .text();
    }

    private static Permission.Read read(String key) {
        return new Permission.Read(ByteString.copyFromUtf8(key), ByteString.EMPTY);
    }

    private static io.etcd.jetcd.api.Permission permission(String key) {
        return io.etcd.jetcd.api.Permission.newBuilder()
                .setPermType(io.etcd.jetcd.api.Permission.Type.READ)
                .setKey(ByteString.copyFromUtf8(key))
                .build();
    }
}
