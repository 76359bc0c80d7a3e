package io.understudy.gateway.json;

/** A request body that is not valid. Has no stack trace: it is an answer, not a fault. */
final class MalformedJson extends Exception {

    private static final long serialVersionUID = 1L;

    /** Whether the text is protobuf's and gets its prefix. */
    private final boolean proto;

    private MalformedJson(boolean proto, String text) {
        super(text, null, false, false);
        this.proto = proto;
    }

    /** The body is not JSON. */
    static MalformedJson syntax(String text) {
        return new MalformedJson(false, text);
    }

    /** The body is JSON, but not that of the message. */
    static MalformedJson proto(String text) {
        return new MalformedJson(true, text);
    }

    /** Returns etcd's text of the error. */
    String text(JsonForm form) {
        return (proto ? "proto:" + form.errorSpace() : "") + getMessage();
    }
}
