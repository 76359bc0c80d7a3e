package io.understudy.lab.failure;

/**
 * The lab cannot start or continue. The message is for the user: it names the part or file, the problem, and a remedy.
 */
public final class LabException extends RuntimeException {

    public LabException(String message) {
        super(message);
    }

    public LabException(String message, Throwable cause) {
        super(message, cause);
    }
}
