package io.understudy.gateway.json;

/** A body that can't be understood. Carries no stack trace: it is an answer, not a fault. */
final class MalformedJson extends Exception {

    private static final long serialVersionUID = 1L;

    /** Whether the text is protobuf's, which it says before it. */
    private final boolean proto;

    private MalformedJson(boolean proto, String text) {
        super(text, null, false, false);
        this.proto = proto;
    }

    /** It is not JSON. */
    static MalformedJson syntax(String text) {
        return new MalformedJson(false, text);
    }

    /** It is JSON, but not that of the message. */
    static MalformedJson proto(String text) {
        return new MalformedJson(true, text);
    }

    /** As etcd says it. */
    String text(JsonForm form) {
        return (proto ? "proto:" + form.errorSpace() : "") + getMessage();
    }
}
