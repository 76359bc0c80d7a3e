package io.understudy.gateway;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.MessageLite;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RangeResponse;
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

/** Calls of {@code etcdserverpb.KV} that return bytes. */
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

    /** Returns the answer, or the code and text of the error, in comparable form. */
    CompletableFuture<String> call(String method, MessageLite request) {
        return call(method, request.toByteArray());
    }

    /** The same for an encoded request. */
    CompletableFuture<String> call(String method, byte[] request) {
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
                        answer.complete(refusal(error));
                    }

                    @Override
                    public void onCompleted() {
                        // A unary call has one value.
                    }
                });
        return answer;
    }

    /** The messages of a RangeStream, merged to the answer to a Range, in the same form. */
    CompletableFuture<String> stream(RangeRequest request) {
        CompletableFuture<String> answer = new CompletableFuture<>();
        RangeResponse.Builder merged = RangeResponse.newBuilder();
        ClientCalls.asyncServerStreamingCall(
                channel.newCall(
                        MethodDescriptor.newBuilder(BYTES, BYTES)
                                .setType(MethodDescriptor.MethodType.SERVER_STREAMING)
                                .setFullMethodName("etcdserverpb.KV/RangeStream")
                                .build(),
                        CallOptions.DEFAULT.withDeadlineAfter(60, TimeUnit.SECONDS)),
                request.toByteArray(),
                new StreamObserver<>() {
                    @Override
                    public void onNext(byte[] message) {
                        try {
                            CodedInputStream in = CodedInputStream.newInstance(message);
                            in.readTag();
                            merged.mergeFrom(in.readByteArray());
                        } catch (IOException e) {
                            throw new UncheckedIOException(e);
                        }
                    }

                    @Override
                    public void onError(Throwable error) {
                        answer.complete(refusal(error));
                    }

                    @Override
                    public void onCompleted() {
                        answer.complete(comparable(merged.build().toByteArray()));
                    }
                });
        return answer;
    }

    private static String refusal(Throwable error) {
        var status = ((StatusRuntimeException) error).getStatus();
        return status.getCode() + ": " + status.getDescription();
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
