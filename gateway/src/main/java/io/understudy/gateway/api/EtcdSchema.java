package io.understudy.gateway.api;

import com.google.protobuf.DescriptorProtos.DescriptorProto;
import com.google.protobuf.DescriptorProtos.EnumDescriptorProto;
import com.google.protobuf.DescriptorProtos.FieldDescriptorProto;
import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.DescriptorValidationException;
import com.google.protobuf.Descriptors.FileDescriptor;
import com.google.protobuf.Descriptors.MethodDescriptor;
import com.google.protobuf.Descriptors.ServiceDescriptor;
import io.etcd.jetcd.api.RangeRequest;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The messages of etcd's API up to 3.7, including those that jetcd lacks. The latter are from {@code
 * api/etcdserverpb/rpc.proto}.
 */
public final class EtcdSchema {

    private static final String PACKAGE = "etcdserverpb";

    private final FileDescriptor rpc;

    public EtcdSchema() {
        FileDescriptor known = RangeRequest.getDescriptor().getFile();
        FileDescriptorProto.Builder file = known.toProto().toBuilder();
        complete(file);
        try {
            rpc = FileDescriptor.buildFrom(file.build(), known.getDependencies().toArray(new FileDescriptor[0]));
        } catch (DescriptorValidationException e) {
            throw new IllegalStateException("schema additions do not fit the descriptors of jetcd", e);
        }
    }

    /** All of {@code rpc.proto}. */
    public FileDescriptor rpc() {
        return rpc;
    }

    /** Returns the request of a method of {@code etcdserverpb}. Null if it is not named after its method. */
    public @Nullable Descriptor request(String service, String method) {
        ServiceDescriptor found = rpc.findServiceByName(service);
        MethodDescriptor known = found == null ? null : found.findMethodByName(method);
        return known == null ? rpc.findMessageTypeByName(method + "Request") : known.getInputType();
    }

    private static void complete(FileDescriptorProto.Builder file) {
        DescriptorProto.Builder compare = message(file, "Compare");
        compare.addField(field("lease", 8, FieldDescriptorProto.Type.TYPE_INT64).setOneofIndex(0));
        compare.getEnumTypeBuilderList().stream()
                .filter(each -> each.getName().equals("CompareTarget"))
                .forEach(each -> name(each, "LEASE", 4));
        file.getEnumTypeBuilderList().stream()
                .filter(each -> each.getName().equals("AlarmType"))
                .forEach(each -> name(each, "CORRUPT", 2));
        message(file, "MemberListRequest").addField(field("linearizable", 1, FieldDescriptorProto.Type.TYPE_BOOL));
        message(file, "WatchCreateRequest")
                .addField(field("watch_id", 7, FieldDescriptorProto.Type.TYPE_INT64))
                .addField(field("fragment", 8, FieldDescriptorProto.Type.TYPE_BOOL));
        insertBefore(
                message(file, "WatchResponse"), "events", field("fragment", 7, FieldDescriptorProto.Type.TYPE_BOOL));
        message(file, "AuthUserAddRequest")
                .addField(message("options", 3, "AuthUserAddRequest.UserAddOptions"))
                .addField(field("hashedPassword", 4, FieldDescriptorProto.Type.TYPE_STRING))
                .addNestedType(DescriptorProto.newBuilder()
                        .setName("UserAddOptions")
                        .addField(field("no_password", 1, FieldDescriptorProto.Type.TYPE_BOOL)));
        message(file, "AuthUserChangePasswordRequest")
                .addField(field("hashedPassword", 3, FieldDescriptorProto.Type.TYPE_STRING));
        add(file, "LeaseLeasesRequest");
        add(file, "LeaseStatus", field("ID", 1, FieldDescriptorProto.Type.TYPE_INT64));
        add(
                file,
                "LeaseLeasesResponse",
                header(),
                message("leases", 2, "LeaseStatus").setLabel(FieldDescriptorProto.Label.LABEL_REPEATED));
        add(file, "AuthStatusRequest");
        add(
                file,
                "AuthStatusResponse",
                header(),
                field("enabled", 2, FieldDescriptorProto.Type.TYPE_BOOL),
                field("authRevision", 3, FieldDescriptorProto.Type.TYPE_UINT64));
        message(file, "StatusResponse")
                .addField(field("storageVersion", 11, FieldDescriptorProto.Type.TYPE_STRING))
                .addField(field("dbSizeQuota", 12, FieldDescriptorProto.Type.TYPE_INT64))
                .addField(message("downgradeInfo", 13, "DowngradeInfo"));
        add(
                file,
                "DowngradeInfo",
                field("enabled", 1, FieldDescriptorProto.Type.TYPE_BOOL),
                field("targetVersion", 2, FieldDescriptorProto.Type.TYPE_STRING));
        message(file, "SnapshotResponse").addField(field("version", 4, FieldDescriptorProto.Type.TYPE_STRING));
        EnumDescriptorProto.Builder action = EnumDescriptorProto.newBuilder().setName("DowngradeAction");
        List.of("VALIDATE", "ENABLE", "CANCEL").forEach(name -> name(action, name, action.getValueCount()));
        add(
                        file,
                        "DowngradeRequest",
                        field("action", 1, FieldDescriptorProto.Type.TYPE_ENUM)
                                .setTypeName("." + PACKAGE + ".DowngradeRequest.DowngradeAction"),
                        field("version", 2, FieldDescriptorProto.Type.TYPE_STRING))
                .addEnumType(action);
        add(file, "DowngradeResponse", header(), field("version", 2, FieldDescriptorProto.Type.TYPE_STRING));
    }

    private static DescriptorProto.Builder message(FileDescriptorProto.Builder file, String name) {
        return file.getMessageTypeBuilderList().stream()
                .filter(each -> each.getName().equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("message missing from jetcd: " + name));
    }

    private static DescriptorProto.Builder add(
            FileDescriptorProto.Builder file, String name, FieldDescriptorProto.Builder... fields) {
        DescriptorProto.Builder added = file.addMessageTypeBuilder().setName(name);
        for (FieldDescriptorProto.Builder field : fields) {
            added.addField(field);
        }
        return added;
    }

    /** The order of declaration is that of the JSON. */
    private static void insertBefore(DescriptorProto.Builder message, String next, FieldDescriptorProto.Builder field) {
        int at = 0;
        while (!message.getField(at).getName().equals(next)) {
            at++;
        }
        message.addField(at, field);
    }

    private static FieldDescriptorProto.Builder header() {
        return message("header", 1, "ResponseHeader");
    }

    private static FieldDescriptorProto.Builder message(String name, int number, String type) {
        return field(name, number, FieldDescriptorProto.Type.TYPE_MESSAGE).setTypeName("." + PACKAGE + "." + type);
    }

    private static FieldDescriptorProto.Builder field(String name, int number, FieldDescriptorProto.Type type) {
        return FieldDescriptorProto.newBuilder()
                .setName(name)
                .setNumber(number)
                .setType(type)
                .setLabel(FieldDescriptorProto.Label.LABEL_OPTIONAL);
    }

    private static void name(EnumDescriptorProto.Builder type, String name, int number) {
        type.addValueBuilder().setName(name).setNumber(number);
    }
}
