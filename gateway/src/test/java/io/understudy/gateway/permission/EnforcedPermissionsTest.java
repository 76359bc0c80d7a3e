package io.understudy.gateway.permission;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.api.Permission;
import io.understudy.gateway.caller.Principal;
import io.understudy.gateway.permission.Authorizer.Verdict;
import io.understudy.gateway.permission.EnforcedPermissions.UnknownNames;
import io.understudy.vocabulary.KeyRange;
import io.vertx.core.Context;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Requests to the source, and the effect of its responses.
 *
 * <p>Tests invariant P1.
 */
@Timeout(30)
final class EnforcedPermissionsTest {

    private static final Principal.Token GUEST = new Principal.Token("guest.7");
    private static final Duration MAX_AGE = Duration.ofMillis(200);

    private final Vertx vertx = Vertx.vertx();
    private final Context loop = vertx.getOrCreateContext();
    private final ScheduledExecutorService thread = Executors.newSingleThreadScheduledExecutor();
    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final AtomicLong clock = new AtomicLong(System.nanoTime());
    /** The authentication state of the source, and the number of polls. */
    private volatile CompletableFuture<Boolean> enabled = CompletableFuture.completedFuture(true);

    private final AtomicInteger polls = new AtomicInteger();

    /** The readable keys, the number of requests, and a delay of the responses. */
    private volatile KeyRange readable = KeyRange.single(key("script"));

    private volatile CompletableFuture<Void> held = CompletableFuture.completedFuture(null);
    private final Map<Permission, AtomicInteger> requests = new ConcurrentHashMap<>();

    private final EnforcedPermissions permissions = new EnforcedPermissions(
            vertx,
            thread,
            () -> {
                polls.incrementAndGet();
                return enabled;
            },
            (token, wanted) -> held.thenApply(yes -> verdict(wanted)),
            new UnknownNames(),
            new PermissionSettings(MAX_AGE, true, false),
            registry,
            clock::get);

    @AfterEach
    void close() throws Exception {
        permissions.close();
        thread.shutdownNow();
        vertx.close().toCompletionStage().toCompletableFuture().get();
    }

    private Verdict verdict(Permission wanted) {
        requests.computeIfAbsent(wanted, each -> new AtomicInteger()).incrementAndGet();
        Permission.Read read = (Permission.Read) wanted;
        return readable.covers(KeyRange.ofEtcd(read.key(), read.end()))
                ? Verdict.GRANTED
                : new Verdict.Refused(ApiException.permissionDenied());
    }

    @Test
    void withoutAuthenticationEverythingIsPermittedWithoutARequest() throws Exception {
        enabled = CompletableFuture.completedFuture(false);
        permissions.start();
        check(Principal.ANONYMOUS, read("stage"));
        check(GUEST, read("stage"));
        check(new Principal.Certificate("guest"), Permission.Standing.ROOT);
        assertThat(requests).isEmpty();
    }

    @Test
    void aGrantIsCachedUntilItsMaximumAge() throws Exception {
        permissions.start();
        for (int i = 0; i < 100; i++) {
            check(GUEST, read("script"));
        }
        assertThat(requests.get(read("script"))).hasValueLessThanOrEqualTo(2);
        readable = KeyRange.single(key("other"));
        clock.addAndGet(MAX_AGE.toNanos());
        refused(GUEST, read("script"));
    }

    @Test
    void denialsAreNotCached() throws Exception {
        permissions.start();
        refused(GUEST, read("stage"));
        readable = KeyRange.single(key("stage"));
        check(GUEST, read("stage"));
    }

    @Test
    void concurrentChecksOfOnePermissionShareOneRequest() throws Exception {
        permissions.start();
        check(Principal.ANONYMOUS, Permission.Standing.NONE);
        held = new CompletableFuture<>();
        List<CompletableFuture<Void>> waiting = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            waiting.add(later(GUEST, read("script")));
        }
        held.complete(null);
        for (CompletableFuture<Void> each : waiting) {
            each.get(5, TimeUnit.SECONDS);
        }
        assertThat(requests.get(read("script"))).hasValue(1);
    }

    @Test
    void aGrantedRangeNeedsNoRequestPerKey() throws Exception {
        readable = KeyRange.prefix(key("/plays/"));
        permissions.start();
        check(GUEST, read("/plays/hamlet/1"));
        await().until(() -> {
            int before = requests.size();
            for (int i = 0; i < 10; i++) {
                check(GUEST, read("/plays/macbeth/" + i + "/" + before));
            }
            return requests.size() == before;
        });
        refused(GUEST, read("/stage/1"));
        readable = KeyRange.single(key("other"));
        clock.addAndGet(MAX_AGE.toNanos());
        refused(GUEST, read("/plays/hamlet/1"));
    }

    @Test
    void unknownPermissionsAreDenied() throws Exception {
        enabled = CompletableFuture.failedFuture(new IllegalStateException("away"));
        permissions.start();
        assertThat(failure(GUEST, read("script")).code()).isEqualTo(io.grpc.Status.Code.UNAVAILABLE);
        assertThat(permissions.problem()).isPresent();
        enabled = CompletableFuture.completedFuture(true);
        await().untilAsserted(() -> check(GUEST, read("script")));
        assertThat(permissions.problem()).isEmpty();
        held = CompletableFuture.failedFuture(new IllegalStateException("away"));
        clock.addAndGet(MAX_AGE.toNanos());
        assertThat(failure(GUEST, read("script")).code()).isEqualTo(io.grpc.Status.Code.UNAVAILABLE);
    }

    @Test
    void theLastKnownAuthenticationStateHoldsWhileTheSourceIsAway() throws Exception {
        enabled = CompletableFuture.completedFuture(false);
        permissions.start();
        check(Principal.ANONYMOUS, read("script"));
        enabled = CompletableFuture.failedFuture(new IllegalStateException("away"));
        int before = polls.get();
        await().until(() -> {
            check(Principal.ANONYMOUS, read("script"));
            // One may have been under way before.
            return polls.get() >= before + 2;
        });
    }

    @Test
    void aSwitchOutlivesTheResponseOfALaggingMember() throws Exception {
        enabled = CompletableFuture.completedFuture(true);
        permissions.start();
        assertThat(failure(Principal.ANONYMOUS, read("script")).text())
                .isEqualTo(ApiException.userNameEmpty().text());
        CompletableFuture<Boolean> lagging = new CompletableFuture<>();
        enabled = lagging;
        CompletableFuture<Void> refresh = permissions.refresh();

        permissions.switched(false);
        lagging.complete(true);

        refresh.get(5, TimeUnit.SECONDS);
        check(Principal.ANONYMOUS, read("script"));
    }

    @Test
    void aSwitchOutlivesAConcurrentFormerResponse() throws Exception {
        for (int i = 0; i < 2_000; i++) {
            CompletableFuture<Boolean> former = new CompletableFuture<>();
            try (Authentication authentication = new Authentication(() -> former)) {
                CompletableFuture<Void> refresh = authentication.refresh();
                CountDownLatch begun = new CountDownLatch(1);
                Future<Boolean> answered = thread.submit(() -> {
                    begun.countDown();
                    return former.complete(true);
                });
                begun.await();
                authentication.switched(false);
                assertThat(answered.get()).isTrue();
                refresh.get(5, TimeUnit.SECONDS);
                assertThat(authentication.state()).isEqualTo(Authentication.State.OFF);
            }
        }
    }

    @Test
    void anonymousAndUnknownUsersAreDeniedAsByEtcd() throws Exception {
        permissions.start();
        assertThat(failure(Principal.ANONYMOUS, read("script")).text()).isEqualTo("etcdserver: user name is empty");
        assertThat(failure(new Principal.Certificate("guest"), read("script")).text())
                .isEqualTo("etcdserver: permission denied");
        check(Principal.ANONYMOUS, Permission.Standing.NONE);
        check(new Principal.Certificate("guest"), Permission.Standing.USER);
        assertThat(requests).isEmpty();
    }

    @Test
    void principalsWithoutGrantsLeaveCapacityForOthers() throws Exception {
        permissions.start();
        check(GUEST, read("script"));
        held = new CompletableFuture<>();
        for (int unknown = 0;
                unknown < 2 * PermissionCheckQuota.MAX_OF_UNKNOWN / PermissionCheckQuota.MAX_PER_UNKNOWN;
                unknown++) {
            Principal.Token madeUp = new Principal.Token("made-up." + unknown);
            for (int i = 0; i < 2 * PermissionCheckQuota.MAX_PER_UNKNOWN; i++) {
                var unused = later(madeUp, read("key " + i));
            }
        }

        CompletableFuture<Void> guests = later(GUEST, read("stage"));
        CompletableFuture<Void> anotherUnknown = later(new Principal.Token("made-up.too"), read("stage"));

        assertThat(guests).isNotDone();
        held.complete(null);
        for (CompletableFuture<Void> each : List.of(guests, anotherUnknown)) {
            assertThat(each)
                    .failsWithin(Duration.ofSeconds(5))
                    .withThrowableThat()
                    .withMessageContaining("permission denied");
        }
        held = CompletableFuture.completedFuture(null);
        check(GUEST, read("script"));
    }

    @Test
    void newPrincipalsAreCheckedDespiteForgedTokensThatTheSourceDelays() throws Exception {
        permissions.start();
        check(Principal.ANONYMOUS, Permission.Standing.NONE);
        held = new CompletableFuture<>();
        CompletableFuture<Void> first = later(new Principal.Token("forged.too"), read("script"));
        for (int i = 0; i < 2 * PermissionCheckQuota.MAX_OF_UNKNOWN; i++) {
            var unused = later(new Principal.Token("forged." + i), read("script"));
        }
        check(Principal.ANONYMOUS, Permission.Standing.NONE);
        held = CompletableFuture.completedFuture(null);

        check(GUEST, read("script"));
        assertThat(first).isNotDone();
    }

    @Test
    void excessChecksOfANewPrincipalAreQueued() throws Exception {
        permissions.start();
        check(Principal.ANONYMOUS, Permission.Standing.NONE);
        held = new CompletableFuture<>();
        readable = KeyRange.prefix(key("many"));
        List<CompletableFuture<Void>> checks = new ArrayList<>();
        for (int i = 0; i < 3 * PermissionCheckQuota.MAX_PER_UNKNOWN; i++) {
            checks.add(later(GUEST, read("many" + i)));
        }
        check(Principal.ANONYMOUS, Permission.Standing.NONE);
        held.complete(null);
        assertThat(CompletableFuture.allOf(checks.toArray(new CompletableFuture<?>[0])))
                .succeedsWithin(Duration.ofSeconds(5));
    }

    private void refused(Principal principal, Permission wanted) {
        assertThat(failure(principal, wanted).text()).isEqualTo("etcdserver: permission denied");
    }

    private ApiException failure(Principal principal, Permission wanted) {
        return assertThatExceptionOfType(ExecutionException.class)
                .isThrownBy(() -> check(principal, wanted))
                .withCauseInstanceOf(ApiException.class)
                .extracting(thrown -> (ApiException) thrown.getCause())
                .actual();
    }

    private void check(Principal principal, Permission wanted) throws Exception {
        later(principal, wanted).get(5, TimeUnit.SECONDS);
    }

    private CompletableFuture<Void> later(Principal principal, Permission wanted) {
        CompletableFuture<Void> result = new CompletableFuture<>();
        loop.runOnContext(now ->
                permissions.check(principal, wanted).onComplete(result::complete, result::completeExceptionally));
        return result;
    }

    private static Permission read(String key) {
        return new Permission.Read(key(key), ByteString.EMPTY);
    }

    private static ByteString key(String text) {
        return ByteString.copyFromUtf8(text);
    }
}
