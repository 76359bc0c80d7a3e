package io.understudy.gateway.json;

import com.google.protobuf.Descriptors.Descriptor;
import io.grpc.Status;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.caller.StreamedCall.StreamedRequests;
import io.understudy.gateway.json.MessageReader.MalformedJson;
import io.understudy.gateway.server.WebHandler.BodyReader;
import io.understudy.gateway.server.WebRequest;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads the messages of a streaming method from a body, each once it is complete. The first value that is no message
 * ends them, as in grpc-gateway.
 */
final class JsonRequests implements BodyReader {

    private static final Logger LOG = LoggerFactory.getLogger(JsonRequests.class);

    private final WebRequest http;
    private final JsonExchange exchange;
    private final JsonApi api;
    private final Descriptor type;
    private final Function<StreamedRequests, @Nullable JsonStream> beginning;
    private final StreamedRequests requests = new StreamedRequests(this::settle);

    private ByteBuf body = Unpooled.EMPTY_BUFFER;
    /** End of the last complete value in {@link #body}. */
    private int complete;

    private int scanned;
    private int depth;
    private boolean quoted;
    private boolean escaped;

    /** Bytes that the client's window lacks. */
    private int held;

    /** Bytes of values that are being parsed. */
    private int parsing;

    private boolean ended;
    private boolean begun;
    private boolean over;
    private @Nullable JsonStream stream;

    /** @param beginning starts the call with the requests that have arrived; returns null if the client has gone */
    JsonRequests(
            WebRequest http,
            JsonExchange exchange,
            JsonApi api,
            Descriptor type,
            Function<StreamedRequests, @Nullable JsonStream> beginning) {
        this.http = http;
        this.exchange = exchange;
        this.api = api;
        this.type = type;
        this.beginning = beginning;
    }

    @Override
    public void read(ByteBuf data, boolean end) {
        held += data.readableBytes();
        ended |= end;
        if (!over) {
            if (!body.isReadable()) {
                body = Unpooled.buffer(data.readableBytes());
            }
            body.writeBytes(data, data.readerIndex(), data.readableBytes());
            scan();
            parse();
        }
        settle();
    }

    /** Parses the complete values, one part at a time. */
    private void parse() {
        if (over || parsing > 0) {
            return;
        }
        if (ended || complete > 0) {
            boolean last = ended;
            byte[] values = ByteBufUtil.getBytes(body, 0, last ? body.readableBytes() : complete);
            body = Unpooled.copiedBuffer(body.skipBytes(values.length));
            scanned = body.readableBytes();
            complete = 0;
            parsing = values.length;
            api.parse(
                    http,
                    values.length,
                    () -> api.parser().readAll(values, type, exchange.form()),
                    read -> take(read, last),
                    this::fail);
        } else if (body.readableBytes() > 2 * api.maxRequestBytes()) {
            refuse(JsonApi.tooLarge("more than " + 2 * api.maxRequestBytes()));
        }
    }

    private void settle() {
        if (requests.isEmpty()) {
            release();
        }
        keep();
    }

    private void keep() {
        int unparsed = over ? 0 : body.readableBytes() + parsing;
        // A whole body is held beside.
        http.keep(http.body().length + unparsed + requests.bytes());
    }

    /** Finds the end of the last complete value. */
    private void scan() {
        for (; scanned < body.writerIndex(); scanned++) {
            byte each = body.getByte(scanned);
            if (quoted) {
                quoted = escaped || each != '"';
                escaped = !escaped && each == '\\';
            } else if (each == '"') {
                quoted = true;
            } else if (each == '{' || each == '[') {
                depth++;
            } else if (each == '}' || each == ']') {
                depth = Math.max(0, depth - 1);
                complete = depth == 0 ? scanned + 1 : complete;
            }
        }
    }

    private void take(MessageReader.Messages read, boolean last) {
        parsing = 0;
        if (!over) {
            add(read, last);
            // What has arrived meanwhile.
            parse();
        }
        settle();
    }

    private void fail(Throwable why) {
        parsing = 0;
        if (why instanceof ApiException refusal) {
            refuse(refusal);
        } else {
            LOG.atError().addKeyValue("type", type.getName()).setCause(why).log("request failed");
            refuse(new ApiException(Status.Code.INTERNAL, "understudy: " + why));
        }
        settle();
    }

    private void add(MessageReader.Messages read, boolean last) {
        for (byte[] message : read.encoded()) {
            if (message.length > api.maxRequestBytes()) {
                refuse(JsonApi.tooLarge(message.length + " vs. " + api.maxRequestBytes()));
                return;
            }
        }
        MalformedJson broken = read.broken();
        over = last || broken != null;
        ApiException rejected = broken == null || begun || !read.encoded().isEmpty() ? null : api.rejected(broken);
        if (rejected != null) {
            exchange.refuse(rejected);
            return;
        }
        requests.add(read.encoded(), over);
        keep();
        if (!begun) {
            begun = true;
            stream = beginning.apply(requests);
        }
    }

    @Override
    public void refuse(ApiException why) {
        over = true;
        if (stream == null) {
            exchange.refuse(why);
        } else {
            stream.breakOff(why);
        }
    }

    private void release() {
        if (parsing > 0) {
            return;
        }
        int bytes = held;
        held = 0;
        http.consumed(bytes);
    }
}
