package io.understudy.gateway;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.MessageLite;
import io.etcd.jetcd.api.ResponseHeader;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.MethodDescriptor;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.StreamObserver;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.HexFormat;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** Calls of {@code etcdserverpb.KV} whose answers are bytes. */
final class RawCalls {

    private static final MethodDescriptor.Marshaller<byte[]> BYTES = new MethodDescriptor.Marshaller<>() {
        @Override
        public InputStream stream(byte[] value) {
            return new ByteArrayInputStream(value);
        }

        @Override
        public byte[] parse(InputStream stream) {
            try {
                return stream.readAllBytes();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    };

    private final Channel channel;

    RawCalls(Channel channel) {
        this.channel = channel;
    }

    /** The answer, or the code and text of its refusal, in a form that can be compared. */
    CompletableFuture<String> ask(String method, MessageLite request) {
        return ask(method, request.toByteArray());
    }

    /** The same for a request that is sent as it is. */
    CompletableFuture<String> ask(String method, byte[] request) {
        CompletableFuture<String> answer = new CompletableFuture<>();
        ClientCalls.asyncUnaryCall(
                channel.newCall(
                        MethodDescriptor.newBuilder(BYTES, BYTES)
                                .setType(MethodDescriptor.MethodType.UNARY)
                                .setFullMethodName("etcdserverpb.KV/" + method)
                                .build(),
                        CallOptions.DEFAULT.withDeadlineAfter(60, TimeUnit.SECONDS)),
                request,
                new StreamObserver<>() {
                    @Override
                    public void onNext(byte[] value) {
                        answer.complete(comparable(value));
                    }

                    @Override
                    public void onError(Throwable error) {
                        var status = ((StatusRuntimeException) error).getStatus();
                        answer.complete(status.getCode() + ": " + status.getDescription());
                    }

                    @Override
                    public void onCompleted() {
                        // A unary call's value has come.
                    }
                });
        return answer;
    }

    /** All bytes but those of the header's member id and raft term. The header is the first field of every answer. */
    static String comparable(byte[] answer) {
        try {
            CodedInputStream in = CodedInputStream.newInstance(answer);
            in.readTag();
            ResponseHeader header = ResponseHeader.parseFrom(in.readByteArray());
            int rest = in.getTotalBytesRead();
            return HexFormat.of()
                            .formatHex(header.toBuilder()
                                    .clearMemberId()
                                    .clearRaftTerm()
                                    .build()
                                    .toByteArray())
                    + " "
                    + HexFormat.of().formatHex(answer, rest, answer.length);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
