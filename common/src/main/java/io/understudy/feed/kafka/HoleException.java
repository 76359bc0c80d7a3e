package io.understudy.feed.kafka;

/** Something that was written is not there any more, or was written anew; the message tells what. */
final class HoleException extends Exception {

    private static final long serialVersionUID = 1L;

    private final String message;

    HoleException(String message) {
        super(message);
        this.message = message;
    }

    @Override
    public String getMessage() {
        return message;
    }
}
