package io.understudy.cluster.run;

/** A step did not have its effect. The message names what was waited for, and what was observed. */
final class StepFailedException extends Exception {
    StepFailedException(String message) {
        super(message);
    }
}
