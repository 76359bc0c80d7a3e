package io.understudy.gateway.json;

/** A request body that is not valid. Has no stack trace: it is an answer, not a fault. */
final class MalformedJson extends Exception {

    MalformedJson(String what) {
        super("proto: " + what, null, false, false);
    }

    /** Returns the text of the error. */
    String text() {
        return String.valueOf(getMessage());
    }
}
