package io.understudy.lab.progress;

import java.time.Duration;

/**
 * The state of a part at one moment.
 *
 * @param detail what it is doing or waiting for, may be empty
 * @param took since it began to start; zero while it waits
 */
public record PartState(String part, Phase phase, String detail, Duration took) {

    String seconds() {
        return String.format("%d.%d s", took.toSeconds(), took.toMillisPart() / 100);
    }
}
