package io.understudy.feed.kafka;

/** A record that no mirror of a known version wrote; the message tells where it is and what is wrong with it. */
public final class MalformedRecordException extends Exception {

    private static final long serialVersionUID = 1L;

    private final String message;

    MalformedRecordException(String message) {
        super(message);
        this.message = message;
    }

    @Override
    public String getMessage() {
        return message;
    }
}
