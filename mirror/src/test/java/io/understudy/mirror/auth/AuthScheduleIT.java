package io.understudy.mirror.auth;

import static io.understudy.mirror.fixture.Mirrors.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.Permission;
import io.etcd.jetcd.api.RangeRequest;
import io.understudy.etcd.Duty;
import io.understudy.etcd.EtcdError;
import io.understudy.mirror.MirrorProcess;
import io.understudy.mirror.auth.Authorisation.GrantedRange;
import io.understudy.mirror.call.CallFailedException;
import io.understudy.mirror.call.ClusterCalls;
import io.understudy.mirror.etcd.EtcdSinkOptions;
import io.understudy.mirror.fixture.Mirrors;
import io.understudy.mirror.fixture.ShownAuth;
import io.understudy.mirror.fixture.SourceAndTarget;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.mirror.scope.ReservedKeys;
import io.understudy.mirror.settings.MirrorSettings;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Whatever is done to the source's roles and users, in any order, with authentication disabled: the target has them.
 *
 * <p>Tests invariant M12.
 */
@Timeout(240)
@Tag("schedules")
final class AuthScheduleIT {

    @RegisterExtension
    static final SourceAndTarget CLUSTERS = SourceAndTarget.ofOneVoterEach();

    private static final int ROUNDS = 8;
    private static final int OPERATIONS = 40;

    private static final List<String> NAMES = List.of("a", "b", "c");
    private static final List<String> ENDS = List.of("", "/z", "\0");
    private static final Permission.Type[] TYPES = {
        Permission.Type.READ, Permission.Type.WRITE, Permission.Type.READWRITE
    };

    /** Errors of an operation without effect. */
    private static final Set<EtcdError> NOTHING_TO_DO = EnumSet.of(
            EtcdError.USER_EXISTS,
            EtcdError.USER_NOT_FOUND,
            EtcdError.ROLE_EXISTS,
            EtcdError.ROLE_NOT_FOUND,
            EtcdError.ROLE_NOT_GRANTED,
            EtcdError.PERMISSION_NOT_GRANTED);

    @Test
    void theTargetHasTheRolesAndUsersOfTheSource() throws Exception {
        long seed = Long.getLong("understudy.seed", System.nanoTime());
        Random random = new Random(seed);
        AuthOptions options = new AuthOptions(AuthMode.COPY, null, Duration.ofMillis(50), Duration.ofMinutes(5));
        try (AuthSide source = AuthSide.of(CLUSTERS.source(), null);
                AuthSide target = AuthSide.of(CLUSTERS.target(), null);
                MirrorProcess mirror = Mirrors.start(new MirrorSettings.Mirror(
                        "dr",
                        MirrorSettings.Source.Etcd.of(Mirrors.settings(CLUSTERS.source())),
                        MirrorScope.all(),
                        MirrorSettings.Target.Etcd.of(Mirrors.settings(CLUSTERS.target()), EtcdSinkOptions.DEFAULTS)
                                .with(options)))) {
            // A source without any is not copied.
            source.calls().addRole("any/checkpoint");
            for (int round = 0; round < ROUNDS; round++) {
                for (int i = 0; i < OPERATIONS; i++) {
                    operate(source.calls(), random);
                }
                await().atMost(PATIENCE).untilAsserted(() -> assertThat(target.held())
                        .as("seed " + seed + ", " + ShownAuth.of(mirror))
                        .isEqualTo(source.held()));
            }
            assertThat(checkpoints(target)).isEqualTo(1);
            assertThat(ShownAuth.of(mirror).json().path("sourceEnabled").asBoolean())
                    .isFalse();
            assertThat(ShownAuth.of(mirror).warnings()).isEmpty();
        }
    }

    /** Keys that are taken for a checkpoint. */
    private static long checkpoints(AuthSide target) throws Exception {
        RangeRequest request = RangeRequest.newBuilder()
                .setKey(ReservedKeys.CHECKPOINTS.etcdKey())
                .setRangeEnd(ReservedKeys.CHECKPOINTS.etcdRangeEnd())
                .build();
        return new ClusterCalls(target.cluster(), Duty.WRITE, Duration.ofSeconds(5))
                .kv(stub -> stub.range(request)).getKvsList().stream()
                        .filter(each -> ReservedKeys.isCheckpoint(each.getKey()))
                        .count();
    }

    private static void operate(AuthCalls source, Random random) throws Exception {
        String role = "role-" + any(NAMES, random);
        String user = "user-" + any(NAMES, random);
        GrantedRange range = new GrantedRange(
                ByteString.copyFromUtf8("/" + any(NAMES, random)), ByteString.copyFromUtf8(any(ENDS, random)));
        try {
            switch (random.nextInt(9)) {
                case 0, 1 -> source.addRole(role);
                case 2 -> source.grant(role, range, TYPES[random.nextInt(TYPES.length)]);
                case 3 -> source.revoke(role, range);
                case 4 -> source.addUser(user);
                case 5, 6 -> source.giveRole(user, role);
                case 7 -> source.takeRole(user, role);
                default -> {
                    if (random.nextBoolean()) {
                        source.deleteRole(role);
                    } else {
                        source.deleteUser(user);
                    }
                }
            }
        } catch (CallFailedException e) {
            if (!NOTHING_TO_DO.contains(e.error())) {
                throw e;
            }
        }
    }

    private static <T> T any(List<T> all, Random random) {
        return all.get(random.nextInt(all.size()));
    }
}
