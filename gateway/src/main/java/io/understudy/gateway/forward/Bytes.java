package io.understudy.gateway.forward;

import io.grpc.MethodDescriptor;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;

/** Messages as they are on the wire. */
public enum Bytes implements MethodDescriptor.Marshaller<byte[]> {
    AS_THEY_ARE;

    /** Returns a method with opaque messages. */
    public static MethodDescriptor<byte[], byte[]> method(String fullName, MethodDescriptor.MethodType type) {
        return MethodDescriptor.<byte[], byte[]>newBuilder(AS_THEY_ARE, AS_THEY_ARE)
                .setFullMethodName(fullName)
                .setType(type)
                .build();
    }

    @Override
    public InputStream stream(byte[] message) {
        return new ByteArrayInputStream(message);
    }

    @Override
    public byte[] parse(InputStream message) {
        try {
            return message.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
