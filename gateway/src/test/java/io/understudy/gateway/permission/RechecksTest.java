package io.understudy.gateway.permission;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.grpc.Status;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.api.Permission;
import io.understudy.gateway.caller.Principal;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Frequency and order of rechecks.
 *
 * <p>Tests invariant P1b.
 */
@Timeout(30)
final class RechecksTest {

    private static final Principal GUEST = new Principal.Token("guest.7");
    private static final Principal CROWD = new Principal.Token("crowd.7");
    private static final Principal MANY = new Principal.Token("many.7");
    private static final Principal JWT = new Principal.Token("e30.e30.c2ln");
    private static final int MANY_WATCHES = 5_000;
    private static final int MOST_FRAMES = 500;
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private final Vertx vertx = Vertx.vertx();
    private final Context loop = vertx.getOrCreateContext();
    /** Checks without a response. */
    private final Queue<Promise<Void>> unanswered = new ConcurrentLinkedQueue<>();

    private final ApiException outdated =
            new ApiException(Status.Code.INVALID_ARGUMENT, "etcdserver: revision of auth store is old");

    private final AtomicInteger guestsChecks = new AtomicInteger();
    private final AtomicInteger manyChecks = new AtomicInteger();
    /** The most frames of the stack, up to a maximum. */
    private final AtomicLong deepest = new AtomicLong();

    private volatile Future<Void> guests = Future.succeededFuture();
    private long spreadNanos = TimeUnit.HOURS.toNanos(1);
    private Rechecks rechecks;

    @AfterEach
    void close() throws Exception {
        vertx.close().toCompletionStage().toCompletableFuture().get(10, TimeUnit.SECONDS);
    }

    private Future<Void> check(Principal principal, Permission wanted) {
        if (principal.equals(GUEST) || principal.equals(JWT)) {
            guestsChecks.incrementAndGet();
            deepest.accumulateAndGet(
                    StackWalker.getInstance()
                            .walk(frames -> frames.limit(MOST_FRAMES).count()),
                    Math::max);
            return guests;
        }
        Promise<Void> answer = Promise.promise();
        if (principal.equals(MANY)) {
            manyChecks.incrementAndGet();
            loop.runOnContext(now -> answer.complete());
            return answer.future();
        }
        unanswered.add(answer);
        return answer.future();
    }

    @Test
    void manyWatchesOfOnePrincipalDelayNoOthers() throws Exception {
        for (int i = 0; i < 2 * Rechecks.MOST_UNDER_WAY; i++) {
            var unused = begin(CROWD, "key " + i);
        }
        await().until(() -> unanswered.size() >= Rechecks.MOST_OF_ONE);
        Watcher guest = begin(GUEST, "key");
        // Each tick checks all principals in turn, so two checks of the guest enclose a full turn of the crowd.
        await().until(() -> guestsChecks.get() >= 2);
        assertThat(unanswered).hasSize(Rechecks.MOST_OF_ONE);

        guests = Future.failedFuture(ApiException.permissionDenied());

        await().until(() -> !guest.revoked.isEmpty());
        assertThat(unanswered).as("the crowd's checks are still unanswered").hasSize(Rechecks.MOST_OF_ONE);
    }

    /** Whether the source or the principal's own number of watches is the cause. */
    @Test
    void watchesWithoutARecentCheckHoldEventsBack() throws Exception {
        List<Watcher> crowd = new CopyOnWriteArrayList<>();
        for (int i = 0; i < 2 * Rechecks.MOST_OF_ONE; i++) {
            crowd.add(begin(CROWD, "key " + i));
        }
        Watcher guest = begin(GUEST, "key");

        await().atMost(PATIENCE).until(() -> crowd.stream().allMatch(this::isInDoubt));

        assertThat(isInDoubt(guest)).isFalse();
        await().atMost(PATIENCE).until(() -> {
            onLoop(this::answerAll);
            return crowd.stream().allMatch(each -> each.settled.get() > 0);
        });
        assertThat(crowd).noneMatch(each -> !each.revoked.isEmpty());
    }

    private int answerAll() {
        int answered = 0;
        for (Promise<Void> each = unanswered.poll(); each != null; each = unanswered.poll()) {
            each.complete();
            answered++;
        }
        return answered;
    }

    /** More than are checked from tick to tick within the age that holds events back. */
    @Test
    void whileTheSourceAnswers_noEventsAreHeldBack() throws Exception {
        List<Watcher> many = new CopyOnWriteArrayList<>();
        for (int i = 0; i < MANY_WATCHES; i++) {
            many.add(begin(MANY, "key " + i));
        }
        await().atMost(PATIENCE).until(() -> manyChecks.get() > 3 * MANY_WATCHES);
        assertThat(many).noneMatch(each -> isInDoubt(each) || each.settled.get() > 0);
    }

    /** It is of any change of users: their clients would all log in at once. */
    @Test
    void watchesOfAnOutdatedJwtContinueUntilTheyEndApart() throws Exception {
        guests = Future.failedFuture(outdated);
        Watcher watcher = begin(JWT, "key");
        // Longer than the age that holds events back.
        await().atMost(PATIENCE).until(() -> guestsChecks.get() >= 8);
        assertThat(isInDoubt(watcher)).isFalse();
        assertThat(watcher.revoked).isEmpty();
        Watcher simple = begin(GUEST, "key");
        await().until(() -> !simple.revoked.isEmpty());
        guests = Future.failedFuture(ApiException.permissionDenied());
        await().until(() -> !watcher.revoked.isEmpty());

        spreadNanos = 0;
        guests = Future.failedFuture(outdated);
        Watcher next = begin(JWT, "key");
        await().until(() -> next.revoked.contains(outdated));
    }

    /** As those of anonymous clients do once authentication is enabled. */
    @Test
    void manyLateChecksThatFailAtOnceEndTheirWatches() throws Exception {
        guests = Future.failedFuture(ApiException.permissionDenied());
        List<Watcher> late = onLoop(() -> {
            List<Watcher> begun = new ArrayList<>();
            for (int i = 0; i < MANY_WATCHES; i++) {
                begun.add(begun(GUEST, "key " + i));
            }
            // Blocks the loop, so that all checks are late.
            LockSupport.parkNanos(TimeUnit.SECONDS.toNanos(2));
            return begun;
        });
        await().atMost(PATIENCE).untilAsserted(() -> assertThat(late)
                .allSatisfy(each -> assertThat(each.revoked).hasSize(1)));
        assertThat(deepest.get()).isLessThan(MOST_FRAMES);
    }

    private Watcher begin(Principal principal, String key) throws Exception {
        return onLoop(() -> begun(principal, key));
    }

    private Watcher begun(Principal principal, String key) {
        if (rechecks == null) {
            rechecks = new Rechecks(this::check, Rechecks.revocations(new SimpleMeterRegistry()), () -> spreadNanos);
        }
        Watcher watcher = new Watcher();
        watcher.permit =
                rechecks.begin(principal, new Permission.Read(ByteString.copyFromUtf8(key), ByteString.EMPTY), watcher);
        return watcher;
    }

    private boolean isInDoubt(Watcher watcher) {
        try {
            return onLoop(() -> watcher.permit.isInDoubt());
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    private <T> T onLoop(Callable<T> work) throws Exception {
        CompletableFuture<T> done = new CompletableFuture<>();
        loop.runOnContext(now -> {
            try {
                done.complete(work.call());
            } catch (Exception e) {
                done.completeExceptionally(e);
            }
        });
        return done.get(10, TimeUnit.SECONDS);
    }

    private static final class Watcher implements Rechecks.Listener {
        private final List<ApiException> revoked = new CopyOnWriteArrayList<>();
        private Rechecks.Permit permit;
        private final AtomicInteger settled = new AtomicInteger();

        @Override
        public void settled() {
            settled.incrementAndGet();
        }

        @Override
        public void revoked(ApiException why) {
            revoked.add(why);
        }
    }
}
