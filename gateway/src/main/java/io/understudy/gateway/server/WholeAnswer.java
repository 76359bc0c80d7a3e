package io.understudy.gateway.server;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http2.Http2RemoteFlowController;
import java.util.List;

/** A small response as consecutive frames, once the client's windows have room for it. */
final class WholeAnswer implements Http2RemoteFlowController.FlowControlled {

    private final Http2Exchange exchange;
    private final AnswerFrames answers;
    private final JoinedFrames frames;
    private final List<Field> fields;
    private final ByteBuf message;
    private boolean headed;

    /** Owns {@code message}, which fits into a frame. */
    WholeAnswer(
            Http2Exchange exchange, AnswerFrames answers, JoinedFrames frames, List<Field> fields, ByteBuf message) {
        this.exchange = exchange;
        this.answers = answers;
        this.frames = frames;
        this.fields = fields;
        this.message = message;
    }

    @Override
    public int size() {
        return message.readableBytes();
    }

    @Override
    public void write(ChannelHandlerContext ctx, int allowedBytes) {
        if (!headed) {
            headed = true;
            answers.head(ctx, exchange.stream(), fields);
        }
        int length = Math.min(allowedBytes, message.readableBytes());
        if (length > 0) {
            frames.data(exchange.stream().id(), message, length);
        }
        if (!message.isReadable()) {
            // Here, since a later failure is not reported.
            answers.end(ctx, exchange);
        }
    }

    @Override
    public void writeComplete() {
        message.release();
    }

    @Override
    public boolean merge(ChannelHandlerContext ctx, Http2RemoteFlowController.FlowControlled next) {
        return false;
    }

    @Override
    public void error(ChannelHandlerContext ctx, Throwable cause) {
        message.release();
        exchange.failed(cause);
    }
}
