package io.understudy.local.process;

import java.time.Duration;

/** A JVM that has a process rest nearly all the time, and then waits to be killed. */
final class LimitingJvm {

    private LimitingJvm() {}

    public static void main(String[] arguments) throws InterruptedException {
        try (ProcessorLimit limit =
                ProcessorLimit.of(ProcessHandle.of(Long.parseLong(arguments[0])).orElseThrow())) {
            limit.set(Duration.ofMillis(1), Duration.ofMillis(50));
            Thread.currentThread().join();
        }
    }
}
