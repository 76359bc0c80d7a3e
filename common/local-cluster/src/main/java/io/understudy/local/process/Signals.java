package io.understudy.local.process;

import java.time.Duration;
import java.util.List;

/** Signals that the JDK cannot send. */
final class Signals {

    private static final Duration DEADLINE = Duration.ofSeconds(10);

    private Signals() {}

    /** @throws CommandFailedException there is no such process */
    static void send(long pid, String signal) {
        Command.of(List.of("sh", "-c", "kill -s \"$1\" \"$2\"", "signal", signal, Long.toString(pid)))
                .run(DEADLINE);
    }
}
