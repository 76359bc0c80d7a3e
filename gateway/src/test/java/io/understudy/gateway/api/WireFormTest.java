package io.understudy.gateway.api;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import com.google.protobuf.CodedInputStream;
import com.google.protobuf.MessageLite;
import io.etcd.jetcd.api.KeyValue;
import io.etcd.jetcd.api.RangeResponse;
import io.etcd.jetcd.api.ResponseHeader;
import io.etcd.jetcd.api.ResponseOp;
import io.etcd.jetcd.api.TxnResponse;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.understudy.gateway.api.OpResult.RangeResult;
import io.understudy.gateway.api.OpResult.TxnResult;
import io.understudy.gateway.replica.Entry;
import io.understudy.gateway.replica.Entry.EntryFields;
import io.understudy.vocabulary.Revision;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * Answers are assembled, and come to the bytes that protobuf's own encoder makes of them.
 *
 * <p>Tests invariant A1.
 */
final class WireFormTest {

    private static final ResponseHeader HEADER = ResponseHeader.newBuilder()
            .setClusterId(-1)
            .setMemberId(0xee)
            .setRevision(300)
            .setRaftTerm(2)
            .build();

    private final Random random = new Random(7);

    @Test
    void anEmptyRangeIsItsHeader() {
        RangeResult nothing = new RangeResult(HEADER, Entries.NONE, EntryFields.ALL, false, 0);
        assertThat(bytes(WireForm.of(nothing), 100)).isEqualTo(encoded(message(nothing)));
    }

    @Test
    void rangesAreWhatProtobufEncodes() {
        for (int i = 0; i < 500; i++) {
            RangeResult result = range(random.nextInt(6));
            assertThat(bytes(WireForm.of(result), 1 + random.nextInt(400))).isEqualTo(encoded(message(result)));
        }
    }

    @Test
    void transactionsAreWhatProtobufEncodesHoweverDeeplyNested() {
        for (int i = 0; i < 300; i++) {
            TxnResult result = txn(3);
            assertThat(bytes(WireForm.of(result), 1 + random.nextInt(400))).isEqualTo(encoded(message(result)));
        }
    }

    @Test
    void aLargeAnswerIsGivenInPiecesOfTheSizeWanted() {
        RangeResult large = range(5_000);
        AnswerBody body = WireForm.of(large);
        ByteBuf all = Unpooled.buffer();
        boolean more = true;
        while (more) {
            ByteBuf piece = Unpooled.buffer();
            more = body.appendTo(piece, 10_000);
            assertThat(piece.readableBytes()).isLessThan(10_000 + 700);
            if (more) {
                assertThat(piece.readableBytes()).isGreaterThanOrEqualTo(10_000);
            }
            all.writeBytes(piece);
        }
        assertThat(ByteBufUtil.getBytes(all)).isEqualTo(encoded(message(large)));
    }

    @Test
    void aStreamsMessagesMergeToTheRange_andOnlyTheLastHasAHeader() throws Exception {
        for (int i = 0; i < 300; i++) {
            RangeResult result = range(random.nextInt(40));
            AnswerBody body = WireForm.stream(result);
            int wanted = 1 + random.nextInt(3_000);
            RangeResponse.Builder merged = RangeResponse.newBuilder();
            boolean more = true;
            while (more) {
                ByteBuf piece = Unpooled.buffer();
                more = body.appendTo(piece, wanted);
                assertThat(piece.readByte()).isZero();
                assertThat(piece.readInt()).isEqualTo(piece.readableBytes());
                CodedInputStream in = CodedInputStream.newInstance(ByteBufUtil.getBytes(piece));
                assertThat(in.readTag()).isEqualTo(0x0a);
                RangeResponse part = RangeResponse.parseFrom(in.readByteArray());
                assertThat(in.isAtEnd()).isTrue();
                assertThat(part.hasHeader()).isEqualTo(!more);
                assertThat(more && part.getKvsCount() == 0).isFalse();
                merged.mergeFrom(part);
            }
            assertThat(merged.build()).isEqualTo(message(result));
        }
    }

    private static byte[] bytes(AnswerBody body, int wanted) {
        ByteBuf out = Unpooled.buffer();
        while (body.appendTo(out, wanted)) {
            assertThat((long) out.readableBytes()).isLessThan(body.length());
        }
        assertThat(body.length()).isEqualTo(out.readableBytes());
        return ByteBufUtil.getBytes(out);
    }

    private static byte[] encoded(MessageLite message) {
        return message.toByteArray();
    }

    private RangeResult range(int entries) {
        List<Entry> found = new ArrayList<>();
        for (int i = 0; i < entries; i++) {
            found.add(entry());
        }
        return new RangeResult(
                random.nextBoolean()
                        ? HEADER
                        : HEADER.toBuilder().clearRaftTerm().build(),
                Entries.of(found),
                random.nextBoolean()
                        ? EntryFields.ALL
                        : random.nextBoolean() ? EntryFields.WITHOUT_VALUE : EntryFields.WITHOUT_VALUE_AND_LEASE,
                random.nextBoolean(),
                entries == 0 ? 0 : number());
    }

    private TxnResult txn(int depth) {
        List<OpResult> results = new ArrayList<>();
        for (int i = random.nextInt(4); i > 0; i--) {
            results.add(depth > 0 && random.nextInt(3) == 0 ? txn(depth - 1) : range(random.nextInt(4)));
        }
        return new TxnResult(depth == 3 ? HEADER : ResponseHeader.getDefaultInstance(), random.nextBoolean(), results);
    }

    private Entry entry() {
        return Entry.of(new io.understudy.vocabulary.KeyValue(
                bytes(1 + random.nextInt(200)),
                bytes(random.nextInt(3) == 0 ? 0 : random.nextInt(400)),
                new Revision(number()),
                new Revision(number()),
                number(),
                random.nextBoolean() ? 0 : random.nextLong()));
    }

    private ByteString bytes(int size) {
        byte[] bytes = new byte[size];
        random.nextBytes(bytes);
        return ByteString.copyFrom(bytes);
    }

    private long number() {
        return 1 + (random.nextLong() >>> (1 + random.nextInt(62)));
    }

    private static RangeResponse message(RangeResult result) {
        RangeResponse.Builder response = RangeResponse.newBuilder()
                .setHeader(result.header())
                .setMore(result.more())
                .setCount(result.count());
        for (Entry entry : result.entries()) {
            response.addKvs(KeyValue.newBuilder()
                    .setKey(entry.key())
                    .setValue(result.fields() == EntryFields.ALL ? entry.value() : ByteString.EMPTY)
                    .setCreateRevision(entry.createRevision())
                    .setModRevision(entry.modRevision())
                    .setVersion(entry.version())
                    .setLease(result.fields() == EntryFields.WITHOUT_VALUE_AND_LEASE ? 0 : entry.lease()));
        }
        return response.build();
    }

    private static TxnResponse message(TxnResult result) {
        TxnResponse.Builder response =
                TxnResponse.newBuilder().setHeader(result.header()).setSucceeded(result.succeeded());
        for (OpResult each : result.results()) {
            ResponseOp.Builder op = response.addResponsesBuilder();
            if (each instanceof RangeResult range) {
                op.setResponseRange(message(range));
            } else if (each instanceof TxnResult txn) {
                op.setResponseTxn(message(txn));
            }
        }
        return response.build();
    }
}
