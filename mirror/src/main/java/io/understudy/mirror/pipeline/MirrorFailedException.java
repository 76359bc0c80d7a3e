package io.understudy.mirror.pipeline;

/** A mirror has ended and needs an operator. The message has its name and the cause. */
public final class MirrorFailedException extends RuntimeException {

    MirrorFailedException(String mirror, Throwable cause) {
        super(
                "mirror " + mirror + " failed: "
                        + (cause.getMessage() == null || cause instanceof Error
                                ? cause.toString()
                                : cause.getMessage()),
                cause);
    }
}
