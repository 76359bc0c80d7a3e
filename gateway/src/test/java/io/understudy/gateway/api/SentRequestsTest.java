package io.understudy.gateway.api;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import com.google.protobuf.CodedOutputStream;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.WireFormat;
import io.etcd.jetcd.api.Compare;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.TxnRequest;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.Collections;
import org.junit.jupiter.api.Test;

/** Messages that take a hundred times their bytes once decoded are rejected before. */
final class SentRequestsTest {

    private static final int UNKNOWN = 15;

    @Test
    void aTransactionOfTheLargestSizeIsDecoded() {
        RequestOp put = RequestOp.newBuilder()
                .setRequestPut(PutRequest.newBuilder()
                        .setKey(ByteString.copyFromUtf8("/registry/pods/default/a"))
                        .setValue(ByteString.copyFromUtf8("value of a small object"))
                        .setLease(7))
                .build();
        TxnRequest request = TxnRequest.newBuilder()
                .addAllSuccess(Collections.nCopies(15_000, put))
                .build();
        assertThatCode(() -> SentRequests.requireFewFields(TxnRequest.getDescriptor(), request.toByteArray()))
                .doesNotThrowAnyException();
    }

    @Test
    void manyEmptyMessagesAreRejected() {
        TxnRequest compares = TxnRequest.newBuilder()
                .addAllCompare(Collections.nCopies(150_000, Compare.getDefaultInstance()))
                .build();
        TxnRequest nested = TxnRequest.newBuilder()
                .addSuccess(RequestOp.newBuilder().setRequestTxn(compares))
                .build();
        for (TxnRequest each : new TxnRequest[] {compares, nested}) {
            assertThatThrownBy(() -> SentRequests.requireFewFields(TxnRequest.getDescriptor(), each.toByteArray()))
                    .isInstanceOf(InvalidProtocolBufferException.class)
                    .hasMessageContaining("100000 fields");
        }
    }

    @Test
    void unknownGroupsAreCounted() throws IOException {
        byte[] shallow = groups(2_000, 95);
        byte[] deep = groups(1, 200_000);
        for (byte[] each : new byte[][] {shallow, deep}) {
            assertThatThrownBy(() -> SentRequests.requireFewFields(RangeRequest.getDescriptor(), each))
                    .isInstanceOf(InvalidProtocolBufferException.class)
                    .hasMessageContaining("100000 fields or 100 levels");
        }
    }

    private static byte[] groups(int count, int depth) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        CodedOutputStream out = CodedOutputStream.newInstance(bytes);
        for (int group = 0; group < count; group++) {
            for (int i = 0; i < depth; i++) {
                out.writeTag(UNKNOWN, WireFormat.WIRETYPE_START_GROUP);
            }
            for (int i = 0; i < depth; i++) {
                out.writeTag(UNKNOWN, WireFormat.WIRETYPE_END_GROUP);
            }
        }
        out.flush();
        return bytes.toByteArray();
    }
}
