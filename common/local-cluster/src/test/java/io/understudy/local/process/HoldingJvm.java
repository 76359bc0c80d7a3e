package io.understudy.local.process;

/** A JVM that holds a process and then waits to be killed. */
final class HoldingJvm {

    private HoldingJvm() {}

    public static void main(String[] arguments) throws InterruptedException {
        try (Reins reins =
                Reins.of(ProcessHandle.of(Long.parseLong(arguments[0])).orElseThrow())) {
            reins.hold();
            Thread.currentThread().join();
        }
    }
}
