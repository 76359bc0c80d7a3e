package io.understudy.gateway.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.DefaultHttp2HeadersDecoder;
import io.netty.handler.codec.http2.DefaultHttp2HeadersEncoder;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2HeadersDecoder;
import io.understudy.gateway.server.Http2HandlerBuilder.RepeatedHeaders;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;
import org.junit.jupiter.api.Test;

/** A block means what it means to Netty's own decoder, however often it came and whatever came in between. */
final class RepeatedHeadersTest {

    private static final int MAX_LIST_BYTES = 4_000;

    private final Http2HeadersDecoder plain = new DefaultHttp2HeadersDecoder(true, MAX_LIST_BYTES);
    private final Http2HeadersDecoder repeated = repeatedHeaders();

    /** A client that has its headers in the table or out of it, and makes that smaller or larger. */
    @Property(tries = 300)
    void areReadAsByNetty(@ForAll("requests") List<Request> requests) throws Exception {
        DefaultHttp2HeadersEncoder encoder =
                new DefaultHttp2HeadersEncoder((name, value) -> name.toString().startsWith("secret"), true);
        Http2HeadersDecoder netty = new DefaultHttp2HeadersDecoder(true, MAX_LIST_BYTES);
        Http2HeadersDecoder ours = repeatedHeaders();
        for (Request request : requests) {
            encoder.maxHeaderTableSize(request.tableBytes());
            for (int time = 0; time < request.times(); time++) {
                ByteBuf block = Unpooled.buffer();
                encoder.encodeHeaders(1, request.headers(), block);
                assertThat(decoded(ours, block)).isEqualTo(decoded(netty, block));
            }
        }
    }

    @Property(tries = 2_000)
    void anyBytesAreReadAsByNetty(@ForAll("blocks") List<byte[]> blocks) {
        Http2HeadersDecoder netty = new DefaultHttp2HeadersDecoder(true, MAX_LIST_BYTES);
        Http2HeadersDecoder ours = repeatedHeaders();
        for (byte[] block : blocks) {
            for (int time = 0; time < 3; time++) {
                Object expected = decoded(netty, Unpooled.wrappedBuffer(block));
                assertThat(decoded(ours, Unpooled.wrappedBuffer(block))).isEqualTo(expected);
                if (expected instanceof String) {
                    // The connection ends, or the table is undefined.
                    return;
                }
            }
        }
    }

    @Test
    void aRepeatedBlockIsNotDecodedAgain() throws Exception {
        ByteBuf method = block(0x83);
        Http2Headers second = twice(method);
        assertThat(repeated.decodeHeaders(5, method.duplicate())).isSameAs(second);
    }

    @Test
    void aBlockThatChangesTheTableIsDecodedEachTime() throws Exception {
        ByteBuf entry = block(0x40, 1, 'a', 1, 'b');
        Http2Headers second = twice(entry);
        assertThat(repeated.decodeHeaders(5, entry.duplicate()))
                .isNotSameAs(second)
                .isEqualTo(second);
    }

    @Test
    void aRepeatedBlockIsDecodedAgainAfterAChangeOfTheTable() throws Exception {
        ByteBuf newest = block(0xbe);
        for (Http2HeadersDecoder each : List.of(plain, repeated)) {
            each.decodeHeaders(1, block(0x40, 1, 'a', 1, 'b'));
        }
        assertThat(twice(newest).get("a")).hasToString("b");
        repeated.decodeHeaders(5, block(0x40, 1, 'c', 1, 'd'));
        assertThat(repeated.decodeHeaders(7, newest.duplicate()).get("c")).hasToString("d");
    }

    @Test
    void aBlockOfVeryManyFieldsIsNotCached() throws Exception {
        ByteBuf many = Unpooled.buffer();
        for (int i = 0; i < 65; i++) {
            many.writeByte(0x8f);
        }
        Http2Headers second = twice(many);
        assertThat(repeated.decodeHeaders(5, many.duplicate()))
                .isNotSameAs(second)
                .isEqualTo(second);
    }

    private Http2Headers twice(ByteBuf block) throws Http2Exception {
        repeated.decodeHeaders(1, block.duplicate());
        return repeated.decodeHeaders(3, block.duplicate());
    }

    private static Http2HeadersDecoder repeatedHeaders() {
        return new RepeatedHeaders(new DefaultHttp2HeadersDecoder(true, MAX_LIST_BYTES));
    }

    /** The headers, or what is wrong with them. */
    private static Object decoded(Http2HeadersDecoder decoder, ByteBuf block) {
        ByteBuf own = block.duplicate();
        try {
            Http2Headers headers = decoder.decodeHeaders(1, own);
            assertThat(own.isReadable()).isFalse();
            return headers;
        } catch (Http2Exception e) {
            return e.error() + ": " + e.getMessage();
        }
    }

    private static ByteBuf block(int... bytes) {
        ByteBuf block = Unpooled.buffer();
        for (int each : bytes) {
            block.writeByte(each);
        }
        return block;
    }

    private record Request(Http2Headers headers, int times, long tableBytes) {}

    @Provide
    Arbitrary<List<Request>> requests() {
        Arbitrary<String> names =
                Arbitraries.of("content-type", "token", "secret", "secret-of-" + "m".repeat(130), "x");
        Arbitrary<String> values = Arbitraries.oneOf(
                Arbitraries.of("application/grpc", "v".repeat(126), "v".repeat(127), "v".repeat(300)),
                Arbitraries.strings().withCharRange('a', 'c').ofMaxLength(2));
        Arbitrary<Http2Headers> headers = Combinators.combine(names, values)
                .as(Field::new)
                .list()
                .ofMaxSize(4)
                .map(RepeatedHeadersTest::request);
        return Combinators.combine(
                        headers.list().ofSize(3).flatMap(Arbitraries::of),
                        Arbitraries.integers().between(1, 4),
                        Arbitraries.of(4_096L, 4_096L, 4_096L, 100L, 0L))
                .as(Request::new)
                .list()
                .ofMaxSize(12);
    }

    private static Http2Headers request(List<Field> fields) {
        Http2Headers headers = new DefaultHttp2Headers().method("POST").path("/etcdserverpb.KV/Range");
        fields.forEach(field -> headers.add(field.name(), field.value()));
        return headers;
    }

    /** Bytes that begin a field more often than by chance. */
    @Provide
    Arbitrary<List<byte[]>> blocks() {
        Arbitrary<Byte> bytes = Arbitraries.frequencyOf(
                Tuple.of(4, Arbitraries.of((byte) 0x82, (byte) 0x87, (byte) 0, (byte) 1, (byte) 'a')),
                Tuple.of(1, Arbitraries.of((byte) 0xff, (byte) 0x0f, (byte) 0x1f, (byte) 0x7f, (byte) 0x80)),
                Tuple.of(1, Arbitraries.bytes()));
        return bytes.array(byte[].class).ofMaxSize(12).list().ofMaxSize(4);
    }
}
