package io.understudy.gateway.server;

import io.netty.handler.codec.http2.AbstractHttp2ConnectionHandlerBuilder;
import io.netty.handler.codec.http2.DefaultHttp2Connection;
import io.netty.handler.codec.http2.DefaultHttp2ConnectionDecoder;
import io.netty.handler.codec.http2.DefaultHttp2FrameReader;
import io.netty.handler.codec.http2.DefaultHttp2HeadersDecoder;
import io.netty.handler.codec.http2.DefaultHttp2RemoteFlowController;
import io.netty.handler.codec.http2.Http2ConnectionDecoder;
import io.netty.handler.codec.http2.Http2ConnectionEncoder;
import io.netty.handler.codec.http2.Http2Settings;
import io.netty.handler.codec.http2.UniformStreamByteDistributor;

/** Builds the handlers of an HTTP/2 connection. */
final class Http2HandlerBuilder extends AbstractHttp2ConnectionHandlerBuilder<Http2Handler, Http2HandlerBuilder> {

    /** Bound of promised streams. Unused, but Netty requires one. */
    private static final int RESERVED_STREAMS = 100;

    private final ClientConnection client;
    private final Requests requests;
    private final ServerLimits limits;

    private Http2HandlerBuilder(ClientConnection client, Requests requests, ServerLimits limits) {
        this.client = client;
        this.requests = requests;
        this.limits = limits;
    }

    static Http2Handler build(ClientConnection client, Requests requests, ServerLimits limits) {
        return new Http2HandlerBuilder(client, requests, limits).build();
    }

    @Override
    protected Http2Handler build() {
        DefaultHttp2Connection connection = new DefaultHttp2Connection(true, RESERVED_STREAMS);
        // By default streams take turns after each KiB, in frames as small: large answers would cost three times as
        // much.
        UniformStreamByteDistributor turns = new UniformStreamByteDistributor(connection);
        turns.minAllocationChunk(Exchange.PIECE_BYTES);
        connection.remote().flowController(new DefaultHttp2RemoteFlowController(connection, turns));
        connection(connection);
        initialSettings(limits.http2());
        headerSensitivityDetector((name, value) -> GrpcHeaders.isSensitive(name));
        encoderEnforceMaxRstFramesPerWindow(limits.maxResets(), ServerLimits.RESET_WINDOW_SECONDS);
        return super.build();
    }

    /** Combines a custom header decoder with Netty's limits of the encoder's queues. */
    @Override
    protected Http2Handler build(
            Http2ConnectionDecoder decoder, Http2ConnectionEncoder encoder, Http2Settings initialSettings) {
        RepeatedHeaders headers = new RepeatedHeaders(new DefaultHttp2HeadersDecoder(true, limits.maxHeaderBytes()));
        return new Around(
                        new DefaultHttp2ConnectionDecoder(
                                encoder.connection(), encoder, new DefaultHttp2FrameReader(headers)),
                        encoder,
                        initialSettings)
                .build();
    }

    /**
     * The same connection with another decoder, to which Netty adds its limits of received frames. Limits of sent
     * frames and settings of both directions are set outside.
     */
    private final class Around extends AbstractHttp2ConnectionHandlerBuilder<Http2Handler, Around> {

        Around(Http2ConnectionDecoder decoder, Http2ConnectionEncoder encoder, Http2Settings settings) {
            initialSettings(settings);
            decoderEnforceMaxRstFramesPerWindow(limits.maxResets(), ServerLimits.RESET_WINDOW_SECONDS);
            codec(decoder, encoder);
        }

        @Override
        protected Http2Handler build() {
            return super.build();
        }

        @Override
        protected Http2Handler build(
                Http2ConnectionDecoder decoder, Http2ConnectionEncoder encoder, Http2Settings settings) {
            Http2Handler handler = new Http2Handler(decoder, encoder, settings, client, limits);
            frameListener(new Http2Frames(handler, requests));
            return handler;
        }
    }
}
