package io.understudy.gateway.json;

import com.google.protobuf.ByteString;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.DynamicMessage;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.UnsafeByteOperations;
import io.grpc.Status;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.ScheduledFuture;
import io.understudy.gateway.api.AnswerBody;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.caller.Caller;
import io.understudy.gateway.caller.StreamedCall;
import io.understudy.gateway.caller.StreamedCall.StreamTaker;
import io.understudy.gateway.server.Field;
import io.understudy.gateway.server.WebStream;
import java.io.UncheckedIOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A stream of answers, a line for each ({@code ForwardResponseStream} in grpc-gateway's {@code runtime/handler.go}).
 * The head waits for the first answer, since an earlier error has its own status.
 *
 * <p>Invariant J2: a streaming method called by JSON returns the lines that etcd returns.
 */
final class JsonStream implements StreamTaker {

    /** Begins a call. */
    @FunctionalInterface
    interface Beginning {
        StreamedCall of(StreamTaker taker) throws ApiException;
    }

    private static final Logger LOG = LoggerFactory.getLogger(JsonStream.class);
    static final byte[] RESULT = JsonBytes.name("result");
    private static final Field TYPE = new Field("content-type", "application/json");
    private static final List<Field> ANSWER =
            List.of(TYPE, new Field("grpc-metadata-content-type", "application/grpc"));

    private final WebStream out;
    private final JsonForm form;
    private final Descriptor type;
    /** Receives the final status. */
    private final Consumer<Status.Code> ended;
    /** Both generations of the library write lines with Go's {@code encoding/json}. */
    private final JsonBytes line = new JsonBytes(JsonForm.GRPC_GATEWAY_1);

    /** What follows a body that is being written. */
    private final Deque<AnswerBody> later = new ArrayDeque<>(0);

    private @Nullable StreamedCall call;
    private @Nullable ScheduledFuture<?> deadline;
    private boolean begun;
    private boolean waits;
    private boolean writing;
    private boolean over;

    JsonStream(WebStream out, JsonForm form, Descriptor type, Consumer<Status.Code> ended) {
        this.out = out;
        this.form = form;
        this.type = type;
        this.ended = ended;
    }

    /** Starts the call and takes its answers. */
    void begin(Beginning beginning) {
        try {
            call = beginning.of(this);
        } catch (ApiException e) {
            end(e);
        } catch (RuntimeException e) {
            broken(e);
        }
    }

    private void broken(RuntimeException why) {
        LOG.atError().addKeyValue("type", type.getName()).setCause(why).log("request failed");
        breakOff(new ApiException(Status.Code.INTERNAL, "understudy: " + why));
    }

    /** Sets the deadline, by {@link System#nanoTime}. */
    void endAt(long nanos, EventExecutor loop) {
        if (nanos != Caller.NO_DEADLINE) {
            deadline = loop.schedule(
                    () -> breakOff(new ApiException(Status.Code.DEADLINE_EXCEEDED, "context deadline exceeded")),
                    Math.max(0, nanos - System.nanoTime()),
                    TimeUnit.NANOSECONDS);
        }
    }

    /** The client has disconnected. */
    void gone() {
        if (!over) {
            over(Status.Code.CANCELLED);
            if (call != null) {
                call.gone();
            }
        }
    }

    /** Ends the stream and cancels the call. */
    void breakOff(ApiException why) {
        if (!over) {
            end(why);
            if (call != null) {
                call.gone();
            }
        }
    }

    @Override
    public boolean takes() {
        if (over || writing) {
            return false;
        }
        boolean ready = !begun || out.ready();
        if (!ready && !waits) {
            waits = true;
            out.whenReady(this::resume);
        }
        return ready;
    }

    private void resume() {
        waits = false;
        if (!over && call != null) {
            try {
                call.takesMore();
            } catch (RuntimeException e) {
                broken(e);
            }
        }
    }

    @Override
    public void take(byte[] answer) {
        if (!over) {
            try {
                line.open('{').member(RESULT);
                MessageJson.write(line, DynamicMessage.parseFrom(type, answer));
                line.close('}');
                begin(200, ANSWER);
                writeLine();
            } catch (InvalidProtocolBufferException e) {
                breakOff(new ApiException(
                        Status.Code.INTERNAL, "understudy: cannot parse the response as " + type.getName()));
            }
        }
    }

    @Override
    public void take(byte[] answer, Iterator<List<byte[]>> rest, UnaryOperator<Runnable> keep) {
        if (!over) {
            begin(200, ANSWER);
            write(new LongLine(type, answer, rest, keep));
        }
    }

    /** Writes a body, after those that are being written. */
    private void write(AnswerBody body) {
        if (writing) {
            later.add(body);
        } else {
            writing = true;
            out.write(body, () -> {
                writing = false;
                AnswerBody next = later.poll();
                if (next != null && !over) {
                    write(next);
                } else {
                    resume();
                }
            });
        }
    }

    @Override
    public void end(@Nullable ApiException why) {
        if (!over) {
            over(why == null ? Status.Code.OK : why.code());
            if (writing) {
                // An error within a line would not be seen.
                out.abort();
                return;
            }
            if (why == null) {
                begin(200, List.of());
            } else {
                begin(JsonErrors.httpStatus(form, why.code()), List.of(TYPE));
                JsonErrors.writeStreamed(line, form, why);
                writeLine();
            }
            out.end();
        }
    }

    private void over(Status.Code code) {
        over = true;
        if (deadline != null) {
            deadline.cancel(false);
        }
        ended.accept(code);
    }

    private void begin(int status, List<Field> fields) {
        if (!begun) {
            begun = true;
            out.begin(status, fields);
        }
    }

    private void writeLine() {
        ByteBuf data = Unpooled.buffer(line.size() + 1);
        line.moveTo(data);
        data.writeByte('\n');
        if (writing) {
            write(AnswerBody.of(ByteBufUtil.getBytes(data)));
        } else {
            out.write(data);
        }
    }

    /** A line of a {@link JsonStream}, converted as the client reads: a message that ends with a repeated field. */
    private static final class LongLine implements AnswerBody {

        private final JsonBytes line = new JsonBytes(JsonForm.GRPC_GATEWAY_1);
        private final Descriptor type;
        private final byte[] begin;
        private final Iterator<List<byte[]>> rest;
        private final UnaryOperator<Runnable> keep;
        private boolean begun;
        private boolean inList;

        /**
         * @param begin of the message, encoded
         * @param rest elements of its last field, each encoded in parts as a message with that field
         * @param keep see {@link AnswerBody#keep}
         */
        LongLine(Descriptor type, byte[] begin, Iterator<List<byte[]>> rest, UnaryOperator<Runnable> keep) {
            this.type = type;
            this.begin = begin;
            this.rest = rest;
            this.keep = keep;
        }

        @Override
        public Runnable keep(Runnable end) {
            return keep.apply(end);
        }

        @Override
        public boolean appendTo(ByteBuf out, int wanted) {
            try {
                if (!begun) {
                    begun = true;
                    line.open('{').member(JsonStream.RESULT).open('{');
                    MessageJson.members(line, DynamicMessage.parseFrom(type, begin));
                }
                while (rest.hasNext() && line.size() < wanted) {
                    element(rest.next());
                }
            } catch (InvalidProtocolBufferException e) {
                throw new UncheckedIOException("cannot parse the response as " + type.getName(), e);
            }
            boolean more = rest.hasNext();
            if (!more) {
                if (inList) {
                    line.close(']');
                }
                line.close('}').close('}');
            }
            line.moveTo(out);
            if (!more) {
                out.writeByte('\n');
            }
            return more;
        }

        private void element(List<byte[]> parts) throws InvalidProtocolBufferException {
            ByteString joined = ByteString.EMPTY;
            for (byte[] part : parts) {
                joined = joined.concat(UnsafeByteOperations.unsafeWrap(part));
            }
            for (var field :
                    DynamicMessage.parseFrom(type, joined).getAllFields().entrySet()) {
                FieldDescriptor name = field.getKey();
                if (!inList) {
                    inList = true;
                    line.member(JsonBytes.name(name.getName())).open('[');
                }
                MessageJson.elements(line, name, (List<?>) field.getValue());
            }
        }
    }
}
