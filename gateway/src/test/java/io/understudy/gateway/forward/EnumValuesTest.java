package io.understudy.gateway.forward;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import com.google.protobuf.MessageLite;
import com.google.protobuf.UnknownFieldSet;
import io.etcd.jetcd.api.AlarmRequest;
import io.etcd.jetcd.api.AuthRoleGrantPermissionRequest;
import io.etcd.jetcd.api.Compare;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.TxnRequest;
import io.grpc.Status;
import io.understudy.gateway.api.ApiException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Tests invariant W7. */
final class EnumValuesTest {

    private static final String ALARM = "etcdserverpb.Maintenance/Alarm";
    private static final String TXN = "etcdserverpb.KV/Txn";
    private static final String GRANT = "etcdserverpb.Auth/RoleGrantPermission";
    private static final String DOWNGRADE = "etcdserverpb.Maintenance/Downgrade";

    @Test
    void anUnknownAlarmActionOrTypeIsRefused() {
        assertRefused(refusal(ALARM, AlarmRequest.newBuilder().setActionValue(9)), "AlarmRequest.action", 9);
        assertRefused(refusal(ALARM, AlarmRequest.newBuilder().setActionValue(-1)), "AlarmRequest.action", -1);
        assertRefused(refusal(ALARM, AlarmRequest.newBuilder().setAlarmValue(3)), "AlarmRequest.alarm", 3);
    }

    @Test
    void allKnownValuesPass() {
        for (int action = 0; action <= 2; action++) {
            for (int alarm = 0; alarm <= 2; alarm++) {
                assertThat(refusal(
                                ALARM,
                                AlarmRequest.newBuilder().setActionValue(action).setAlarmValue(alarm)))
                        .isNull();
            }
        }
        // LEASE, which jetcd lacks.
        assertThat(refusal(
                        TXN,
                        TxnRequest.newBuilder().addCompare(Compare.newBuilder().setTargetValue(4))))
                .isNull();
    }

    @Test
    void anUnknownValueIsRefusedAtAnyDepth() {
        TxnRequest.Builder txn =
                TxnRequest.newBuilder().addCompare(Compare.newBuilder().setResultValue(7));
        for (int depth = 0; depth < 20; depth++) {
            assertRefused(refusal(TXN, txn), "Compare.result", 7);
            txn = TxnRequest.newBuilder().addFailure(RequestOp.newBuilder().setRequestTxn(txn));
        }
        assertRefused(
                refusal(
                        TXN,
                        TxnRequest.newBuilder()
                                .addSuccess(RequestOp.newBuilder()
                                        .setRequestRange(
                                                RangeRequest.newBuilder().setSortOrderValue(5)))),
                "RangeRequest.sort_order",
                5);
        AuthRoleGrantPermissionRequest.Builder grant = AuthRoleGrantPermissionRequest.newBuilder();
        grant.getPermBuilder().setPermTypeValue(8);
        assertRefused(refusal(GRANT, grant), "Permission.permType", 8);
    }

    @Test
    void messagesThatJetcdLacksAreReadToo() {
        UnknownFieldSet request = UnknownFieldSet.newBuilder()
                .addField(1, UnknownFieldSet.Field.newBuilder().addVarint(3).build())
                .build();
        assertRefused(EnumValues.refusal(method(DOWNGRADE), request.toByteArray()), "DowngradeRequest.action", 3);
    }

    @Test
    void unknownFieldsPass() {
        UnknownFieldSet unknown = UnknownFieldSet.newBuilder()
                .addField(99, UnknownFieldSet.Field.newBuilder().addVarint(9).build())
                .addField(
                        98,
                        UnknownFieldSet.Field.newBuilder()
                                .addLengthDelimited(ByteString.copyFromUtf8("later"))
                                .build())
                .build();
        assertThat(refusal(ALARM, AlarmRequest.newBuilder().setUnknownFields(unknown)))
                .isNull();
        assertThat(refusal(
                        TXN,
                        TxnRequest.newBuilder()
                                .addSuccess(RequestOp.newBuilder()
                                        .setRequestPut(PutRequest.newBuilder().setUnknownFields(unknown)))))
                .isNull();
    }

    @Test
    void endlessNestingIsRefused() {
        TxnRequest txn = TxnRequest.getDefaultInstance();
        for (int depth = 0; depth < 60; depth++) {
            txn = TxnRequest.newBuilder()
                    .addFailure(RequestOp.newBuilder().setRequestTxn(txn))
                    .build();
        }
        assertThat(refusal(TXN, txn.toBuilder())).isNotNull().satisfies(refusal -> assertThat(refusal.code())
                .isEqualTo(Status.Code.INVALID_ARGUMENT));
    }

    @Test
    void aRequestThatOtherDecodersMayAcceptIsRefused() {
        assertThat(EnumValues.refusal(method(TXN), new byte[] {(byte) 0xff})).isNotNull();
        // A group that another field ends, then an action: etcd's decoder before 3.7 only counts the depth.
        byte[] groups = {(byte) 0xa3, 0x06, (byte) 0xac, 0x06, 0x08, 0x63};
        assertThat(EnumValues.refusal(method(EtcdMethod.ALARM), groups)).isNotNull();
        byte[] longTag = {(byte) 0x80, (byte) 0x80, (byte) 0x80, (byte) 0x80, 0x10, 0x00, 0x08, 0x63};
        assertThat(EnumValues.refusal(method(EtcdMethod.ALARM), longTag)).isNotNull();
    }

    @Test
    void aRequestWithoutEnumValuesIsNotRead() {
        assertThat(EnumValues.refusal(method("etcdserverpb.KV/Put"), new byte[] {8, 9}))
                .isNull();
    }

    private static @Nullable ApiException refusal(String method, MessageLite.Builder request) {
        return EnumValues.refusal(method(method), request.build().toByteArray());
    }

    private static EtcdMethod method(String name) {
        EtcdMethod method = EtcdMethod.named(name);
        assertThat(method).isNotNull();
        return method;
    }

    private static void assertRefused(@Nullable ApiException refusal, String field, int value) {
        assertThat(refusal).isNotNull();
        assertThat(refusal.code()).isEqualTo(Status.Code.INVALID_ARGUMENT);
        assertThat(refusal.text()).isEqualTo("understudy: unknown value " + value + " of " + field);
    }
}
