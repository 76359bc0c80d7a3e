package io.understudy.cluster.run;

/** A step did not have its effect. The message names what was waited for, and what was observed. */
final class StepFailedException extends Exception {
    private static final long serialVersionUID = 1L;

    StepFailedException(String message) {
        super(message);
    }
}
