package io.understudy.gateway.forward;

import com.google.protobuf.InvalidProtocolBufferException;
import io.etcd.jetcd.api.AlarmRequest;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.understudy.etcd.EtcdCluster;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.caller.Caller;
import io.understudy.gateway.caller.StreamTaker;
import io.understudy.gateway.caller.StreamedCall;
import io.vertx.core.Future;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

/**
 * Every call that the gateway doesn't answer itself: passed on to the source, or refused. For any thread; a call belongs to
 * its session's event loop.
 */
public final class Forwarding {

    private static final ServerCall.Listener<byte[]> OVER = new ServerCall.Listener<>() {};

    private final EtcdCluster source;
    private final ForwardSettings settings;
    private final ForwardMetrics metrics;

    public Forwarding(EtcdCluster source, ForwardSettings settings, ForwardMetrics metrics) {
        this.source = source;
        this.settings = settings;
        this.metrics = metrics;
    }

    /**
     * Takes on a call of which nothing but the headers has arrived.
     *
     * @param client is asked for messages and gets the answer, on {@code loop} only; always closed unless it cancels
     * @param loop the session's event loop, on which this is called
     * @return to be told, on {@code loop}, what the client does
     */
    public ServerCall.Listener<byte[]> start(
            EtcdMethod method, ServerCall<byte[], byte[]> client, Metadata headers, Caller caller, Executor loop) {
        if (method.oneRequest()) {
            return new OneRequest(client, request -> start(method, client, headers, caller, loop, request));
        }
        if (refuses(method)) {
            return refuse(client);
        }
        ForwardedCall call =
                new ForwardedCall(method, client, headers, caller, loop, source, metrics, null, settings.timeout());
        call.start();
        return call;
    }

    /**
     * Takes on a call of one request, which has arrived.
     *
     * @param client gets the answer, on {@code loop} only; always closed unless it cancels
     * @param loop the session's event loop, on which this is called
     * @return to be told, on {@code loop}, when the client is ready for more or cancels
     */
    public ServerCall.Listener<byte[]> start(
            EtcdMethod method,
            ServerCall<byte[], byte[]> client,
            Metadata headers,
            Caller caller,
            Executor loop,
            byte[] request) {
        if (refuses(method) && !listsAlarms(method, request)) {
            return refuse(client);
        }
        ForwardedCall call =
                new ForwardedCall(method, client, headers, caller, loop, source, metrics, request, settings.timeout());
        call.start();
        return call;
    }

    /**
     * Makes a unary call for a caller of whom no more is known than its principal.
     *
     * @param loop the session's event loop, on which this is called
     * @param whenGone given what is to be run, on {@code loop}, if nobody waits for the answer any more
     * @return the answer's bytes, on {@code loop}; fails with an {@link ApiException} only
     */
    public Future<byte[]> call(
            EtcdMethod method, Caller caller, Executor loop, byte[] request, Consumer<Runnable> whenGone) {
        PromisedAnswer answer = new PromisedAnswer(method);
        ServerCall.Listener<byte[]> call =
                start(method, answer, PassedMetadata.of(caller.principal()), caller, loop, request);
        whenGone.accept(() -> {
            answer.cancel();
            call.onCancel();
        });
        return answer.future();
    }

    /**
     * Makes a call with a stream of answers for a caller of whom no more is known than its principal.
     *
     * @param loop the session's event loop, on which this is called
     * @param requests all that the client sends; one where the method has one
     */
    public StreamedCall stream(
            EtcdMethod method, Caller caller, Executor loop, List<byte[]> requests, StreamTaker taker) {
        StreamedAnswer answer = new StreamedAnswer(method, requests, taker);
        answer.begun(start(method, answer, PassedMetadata.of(caller.principal()), caller, loop));
        return answer;
    }

    private boolean refuses(EtcdMethod method) {
        return switch (method.treatment()) {
            case READ -> false;
            case WRITE -> settings.writes() == Writes.REFUSE;
            case REFUSED -> true;
        };
    }

    private static ServerCall.Listener<byte[]> refuse(ServerCall<byte[], byte[]> client) {
        client.close(Refusals.status(ApiException.notSupportedForLearner()), new Metadata());
        return OVER;
    }

    /** The one method that reads or writes, as its request says. {@code etcdctl endpoint health} reads by it. */
    private static boolean listsAlarms(EtcdMethod method, byte[] request) {
        if (!method.fullName().equals(EtcdMethod.ALARM)) {
            return false;
        }
        try {
            return AlarmRequest.parseFrom(request).getAction() == AlarmRequest.AlarmAction.GET;
        } catch (InvalidProtocolBufferException e) {
            return false;
        }
    }
}
