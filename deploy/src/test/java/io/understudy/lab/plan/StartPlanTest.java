package io.understudy.lab.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.understudy.lab.plan.StartPlan.LabStep;
import java.io.IOException;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
final class StartPlanTest {

    private final List<String> done = new CopyOnWriteArrayList<>();

    @Test
    void stepsThatNeedNothingRunAtTheSameTime() throws Exception {
        CyclicBarrier both = new CyclicBarrier(2);

        new StartPlan(List.of(LabStep.first("a", both::await), LabStep.first("b", both::await))).run();
    }

    @Test
    void aStepRunsOnlyWhenAllBeforeItAreDone() throws Exception {
        new StartPlan(List.of(
                        LabStep.first("a", () -> done.add("a")),
                        LabStep.after("a", "b", () -> done.add("b")),
                        new LabStep("c", Set.of("a", "b"), () -> done.add("c"))))
                .run();

        assertThat(done).containsExactly("a", "b", "c");
    }

    @Test
    void theFirstFailureIsThrownAndInterruptsTheOthers() {
        AtomicBoolean interrupted = new AtomicBoolean();
        CountDownLatch waits = new CountDownLatch(1);
        StartPlan plan = new StartPlan(List.of(
                LabStep.first("slow", () -> {
                    try {
                        waits.countDown();
                        new CountDownLatch(1).await();
                    } catch (InterruptedException e) {
                        interrupted.set(true);
                        throw e;
                    }
                }),
                LabStep.first("broken", () -> {
                    waits.await();
                    throw new IOException("no space");
                }),
                LabStep.after("broken", "next", () -> done.add("next"))));

        assertThatThrownBy(plan::run).isInstanceOf(IOException.class).hasMessage("no space");
        assertThat(interrupted).isTrue();
        assertThat(done).isEmpty();
    }

    @Test
    void anInterruptGivesUp() throws Exception {
        CountDownLatch waits = new CountDownLatch(1);
        StartPlan plan = new StartPlan(List.of(LabStep.first("slow", () -> {
            waits.countDown();
            new CountDownLatch(1).await();
        })));
        Thread runner = new Thread(() -> {
            try {
                plan.run();
            } catch (InterruptedException e) {
                done.add("interrupted");
            } catch (Exception e) {
                done.add("failed " + e);
            }
        });
        runner.start();
        waits.await();
        runner.interrupt();
        runner.join();

        assertThat(done).containsExactly("interrupted");
    }

    @Test
    void aStepAfterAnUnknownOneIsRefused() {
        assertThatThrownBy(() -> new StartPlan(List.of(LabStep.after("a", "b", () -> {}))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("step b");
    }

    @Test
    void aStepListedTwiceIsRefused() {
        assertThatThrownBy(() -> new StartPlan(List.of(LabStep.first("a", () -> {}), LabStep.first("a", () -> {}))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("twice");
    }
}
