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
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The messages of etcd's API up to 3.7, including those that jetcd lacks. The latter are from {@code
 * api/etcdserverpb/rpc.proto}.
 */
public final class EtcdSchema {

    private static final String PACKAGE = "etcdserverpb";

    /** Messages that jetcd lacks, alone; and fields: message, name, number, type, and whether it is special. */
    private static final String ADDITIONS = """
            Compare lease 8 int64 oneof
            MemberListRequest linearizable 1 bool
            WatchCreateRequest watch_id 7 int64
            WatchCreateRequest fragment 8 bool
            WatchResponse fragment 7 bool beforeLast
            AuthUserAddRequest options 3 AuthUserAddRequest.UserAddOptions
            AuthUserAddRequest hashedPassword 4 string
            AuthUserChangePasswordRequest hashedPassword 3 string
            LeaseLeasesRequest
            LeaseStatus ID 1 int64
            LeaseLeasesResponse header 1 ResponseHeader
            LeaseLeasesResponse leases 2 LeaseStatus repeated
            AuthStatusRequest
            AuthStatusResponse header 1 ResponseHeader
            AuthStatusResponse enabled 2 bool
            AuthStatusResponse authRevision 3 uint64
            StatusResponse storageVersion 11 string
            StatusResponse dbSizeQuota 12 int64
            StatusResponse downgradeInfo 13 DowngradeInfo
            DowngradeInfo enabled 1 bool
            DowngradeInfo targetVersion 2 string
            SnapshotResponse version 4 string
            DowngradeRequest action 1 DowngradeRequest.DowngradeAction
            DowngradeRequest version 2 string
            DowngradeResponse header 1 ResponseHeader
            DowngradeResponse version 2 string
            """;

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
        for (String row : ADDITIONS.lines().toList()) {
            String[] words = row.split(" ", -1);
            DescriptorProto.Builder message = message(file, words[0]);
            if (words.length > 1) {
                String special = words.length > 4 ? words[4] : "";
                // The order of declaration is that of the JSON: events come last.
                int at = message.getFieldCount() - (special.equals("beforeLast") ? 1 : 0);
                message.addField(at, field(words[1], Integer.parseInt(words[2]), words[3], special));
            }
        }
        message(file, "AuthUserAddRequest")
                .addNestedType(DescriptorProto.newBuilder()
                        .setName("UserAddOptions")
                        .addField(field("no_password", 1, "bool", "")));
        add(message(file, "Compare").getEnumTypeBuilderList(), "CompareTarget", "LEASE", 4);
        add(file.getEnumTypeBuilderList(), "AlarmType", "CORRUPT", 2);
        EnumDescriptorProto.Builder action = message(file, "DowngradeRequest").addEnumTypeBuilder();
        action.setName("DowngradeAction");
        List.of("VALIDATE", "ENABLE", "CANCEL")
                .forEach(name -> action.addValueBuilder().setName(name).setNumber(action.getValueCount() - 1));
    }

    /** Returns a message of jetcd, or adds it. */
    private static DescriptorProto.Builder message(FileDescriptorProto.Builder file, String name) {
        return file.getMessageTypeBuilderList().stream()
                .filter(each -> each.getName().equals(name))
                .findFirst()
                .orElseGet(() -> file.addMessageTypeBuilder().setName(name));
    }

    private static FieldDescriptorProto.Builder field(String name, int number, String type, String special) {
        FieldDescriptorProto.Builder field = FieldDescriptorProto.newBuilder()
                .setName(name)
                .setNumber(number)
                .setLabel(
                        special.equals("repeated")
                                ? FieldDescriptorProto.Label.LABEL_REPEATED
                                : FieldDescriptorProto.Label.LABEL_OPTIONAL);
        if (special.equals("oneof")) {
            field.setOneofIndex(0);
        }
        return Character.isUpperCase(type.charAt(0))
                ? field.setTypeName("." + PACKAGE + "." + type)
                : field.setType(FieldDescriptorProto.Type.valueOf("TYPE_" + type.toUpperCase(Locale.ROOT)));
    }

    private static void add(List<EnumDescriptorProto.Builder> types, String type, String name, int number) {
        types.stream()
                .filter(each -> each.getName().equals(type))
                .forEach(each -> each.addValueBuilder().setName(name).setNumber(number));
    }
}
