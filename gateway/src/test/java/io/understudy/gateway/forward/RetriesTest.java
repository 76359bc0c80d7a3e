package io.understudy.gateway.forward;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.understudy.gateway.caller.Session;
import io.understudy.gateway.forward.HeldWrites.HeldCalls;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Which of the calls that reached no member tries again. */
@Timeout(60)
final class RetriesTest {

    private final HeldCalls held = new HeldCalls();
    private final Retries retries = new Retries(held);
    private final List<String> turns = new CopyOnWriteArrayList<>();

    @Test
    void oneTriesAtATime_inTurns() {
        List.of("a", "b", "c").forEach(this::waitAgainAndAgain);
        await().until(() -> turns.size() >= 4);
        assertThat(List.copyOf(turns).subList(0, 4)).containsExactly("a", "b", "c", "a");
        // One may be under way.
        await().until(() -> held.count() == 3);
    }

    @Test
    void allCallsFollowTheFirstThatReachesAMember() {
        List.of("a", "b", "c")
                .forEach(name -> begin(30, inTime -> {
                    turns.add(name + " " + inTime);
                    retries.reached();
                }));
        await().until(() -> turns.size() == 3);
        assertThat(turns).containsExactlyInAnyOrder("a true", "b true", "c true");
        assertThat(held.count()).isZero();
    }

    @Test
    void callsThatWaitedLongEnoughEnd_andCancelledCallsLeaveRoom() {
        begin(0, inTime -> turns.add("late " + !inTime));
        await().until(() -> turns.contains("late true"));
        hold(30, inTime -> {}).complete(null);
        assertThat(held.count()).isZero();
    }

    @Test
    void heldBytesAreBounded() {
        long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
        byte[] half = new byte[(int) (HeldCalls.MAX_BYTES / 2)];
        assertThat(held.hold(new Session(), half, new CompletableFuture<>(), until, Runnable::run, inTime -> {}))
                .isTrue();
        CompletableFuture<Void> second = new CompletableFuture<>();
        assertThat(held.hold(new Session(), half, second, until, Runnable::run, inTime -> {}))
                .isTrue();
        assertThat(held.hold(new Session(), new byte[1], new CompletableFuture<>(), until, Runnable::run, inTime -> {}))
                .isFalse();
        assertThat(held.count()).isEqualTo(2);
        second.complete(null);
        assertThat(held.hold(new Session(), new byte[1], new CompletableFuture<>(), until, Runnable::run, inTime -> {}))
                .isTrue();
    }

    private void waitAgainAndAgain(String name) {
        begin(30, inTime -> {
            turns.add(name);
            waitAgainAndAgain(name);
        });
    }

    private void begin(int seconds, Consumer<Boolean> then) {
        CompletableFuture<Void> unused = hold(seconds, then);
    }

    private CompletableFuture<Void> hold(int seconds, Consumer<Boolean> then) {
        CompletableFuture<Void> turn = new CompletableFuture<>();
        long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
        assertThat(retries.hold(new Session(), turn, null, until, Runnable::run, then))
                .isTrue();
        return turn;
    }
}
