package io.understudy.gateway.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.DefaultHttp2HeadersDecoder;
import io.netty.handler.codec.http2.DefaultHttp2HeadersEncoder;
import io.netty.handler.codec.http2.Http2Headers;
import io.understudy.gateway.server.JoinedFrames.LiteralHeaders;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/** Blocks of headers that any decoder reads, whatever its table holds. */
final class LiteralHeadersTest {

    private final DefaultHttp2HeadersDecoder decoder = new DefaultHttp2HeadersDecoder(true, 1 << 20);

    @Property(tries = 200)
    void literalHeadersDecodeToTheirFields(@ForAll("fields") List<Field> fields) throws Exception {
        ByteBuf block = Unpooled.buffer();
        LiteralHeaders.head(block, fields);
        assertThat(block.readableBytes()).isLessThanOrEqualTo(LiteralHeaders.maxHeadBytes(fields));
        assertThat(decoder.decodeHeaders(1, block)).isEqualTo(expected(fields));
    }

    /** Netty's encoder and these write to one connection, in any order. */
    @Property(tries = 50)
    void literalHeadersDoNotChangeTheTable(@ForAll("fields") List<Field> fields) throws Exception {
        DefaultHttp2HeadersEncoder encoder = new DefaultHttp2HeadersEncoder();
        for (int i = 0; i < 3; i++) {
            ByteBuf others = Unpooled.buffer();
            encoder.encodeHeaders(1, expected(fields), others);
            assertThat(decoder.decodeHeaders(1, others)).isEqualTo(expected(fields));
            ByteBuf block = Unpooled.buffer();
            LiteralHeaders.head(block, fields);
            assertThat(decoder.decodeHeaders(3, block)).isEqualTo(expected(fields));
            ByteBuf end = Unpooled.buffer();
            LiteralHeaders.ok(end);
            assertThat(end.readableBytes()).isEqualTo(LiteralHeaders.OK_BYTES);
            assertThat(decoder.decodeHeaders(3, end)).isEqualTo(GrpcHeaders.ok());
        }
    }

    @Provide
    Arbitrary<List<Field>> fields() {
        Arbitrary<String> names = Arbitraries.of(
                Reply.REVISION.toString(), Reply.STALENESS.toString(), "noted", "a-name-of-" + "m".repeat(300));
        Arbitrary<String> values =
                Arbitraries.strings().withCharRange('!', '~').ofMinLength(0).ofMaxLength(400);
        return Arbitraries.lazyOf(() -> names.flatMap(name -> values.map(value -> new Field(name, value))))
                .list()
                .ofMaxSize(4);
    }

    private static Http2Headers expected(List<Field> fields) {
        Http2Headers headers = new DefaultHttp2Headers(false).status("200").set("content-type", "application/grpc");
        fields.forEach(field -> headers.add(field.name(), field.value()));
        return headers;
    }
}
