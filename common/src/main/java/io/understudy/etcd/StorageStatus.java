package io.understudy.etcd;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.UnknownFieldSet;
import io.etcd.jetcd.api.StatusResponse;
import java.util.List;

/**
 * Fields of a status since etcd 3.6 that jetcd's message lacks ({@code api/etcdserverpb/rpc.proto}).
 *
 * @param version of the data on disk, such as {@code 3.6.0}; empty before 3.6
 * @param downgradeTo target of a downgrade under way, such as {@code 3.6.0}; empty for none
 */
public record StorageStatus(String version, String downgradeTo) {

    /** The status of a member before 3.6. */
    public static final StorageStatus NONE = new StorageStatus("", "");

    private static final int STORAGE_VERSION = 11;
    private static final int DOWNGRADE_INFO = 13;
    private static final int TARGET_VERSION = 2;

    public static StorageStatus of(StatusResponse status) {
        UnknownFieldSet fields = status.getUnknownFields();
        return new StorageStatus(bytes(fields, STORAGE_VERSION).toStringUtf8(), target(bytes(fields, DOWNGRADE_INFO)));
    }

    private static String target(ByteString downgradeInfo) {
        try {
            return bytes(UnknownFieldSet.parseFrom(downgradeInfo), TARGET_VERSION)
                    .toStringUtf8();
        } catch (InvalidProtocolBufferException e) {
            throw new IllegalArgumentException("downgrade_info of a status cannot be decoded", e);
        }
    }

    private static ByteString bytes(UnknownFieldSet fields, int number) {
        List<ByteString> values = fields.getField(number).getLengthDelimitedList();
        return values.isEmpty() ? ByteString.EMPTY : values.get(values.size() - 1);
    }
}
