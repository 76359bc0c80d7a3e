package io.understudy.gateway.forward;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.AuthDisableResponse;
import io.etcd.jetcd.api.PutResponse;
import io.etcd.jetcd.api.ResponseHeader;
import io.etcd.jetcd.api.SnapshotResponse;
import io.understudy.gateway.forward.Refusals.HeaderRevision;
import org.junit.jupiter.api.Test;

final class HeaderRevisionTest {

    @Test
    void theHeadersRevisionIsRead() {
        ResponseHeader header = ResponseHeader.newBuilder()
                .setClusterId(-1)
                .setMemberId(7)
                .setRevision(1L << 40)
                .setRaftTerm(3)
                .build();
        PutResponse answer = PutResponse.newBuilder()
                .setHeader(header)
                .setPrevKv(io.etcd.jetcd.api.KeyValue.newBuilder().setModRevision(9))
                .build();
        assertThat(HeaderRevision.of(answer.toByteArray())).isEqualTo(1L << 40);
    }

    @Test
    void theRevisionIsZeroWithoutAHeader() {
        assertThat(HeaderRevision.of(new byte[0])).isZero();
        assertThat(HeaderRevision.of(AuthDisableResponse.newBuilder()
                        .setHeader(ResponseHeader.newBuilder().setMemberId(7))
                        .build()
                        .toByteArray()))
                .isZero();
        assertThat(HeaderRevision.of(SnapshotResponse.newBuilder()
                        .setBlob(ByteString.copyFromUtf8("bytes"))
                        .build()
                        .toByteArray()))
                .isZero();
    }

    @Test
    void theRevisionOfInvalidBytesIsZero() {
        assertThat(HeaderRevision.of(new byte[] {10, 100, 24})).isZero();
        assertThat(HeaderRevision.of(new byte[] {-1, -1, -1})).isZero();
    }
}
