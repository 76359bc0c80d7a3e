package io.understudy.consumer.format;

/** A record that no mirror of this format wrote; the message has its place and the fault. */
public final class MalformedRecordException extends Exception {

    private final String message;
    private final boolean isOtherFormat;

    public MalformedRecordException(String message, boolean isOtherFormat) {
        super(message);
        this.message = message;
        this.isOtherFormat = isOtherFormat;
    }

    /** Whether a mirror of another version wrote it. A reader that skipped it would lose data. */
    public boolean isOtherFormat() {
        return isOtherFormat;
    }

    @Override
    public String getMessage() {
        return message;
    }
}
