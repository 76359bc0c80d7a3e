package io.understudy.config;

import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Turns records with {@link Configured} components into settings, and a configuration into such records.
 *
 * <p>Components are texts, integers, durations, booleans, enums, {@link HostPort}, {@link Path}, {@link URI}, lists and
 * sets of texts or URLs, maps of properties, and records of these. A nullable record is null unless one of its settings
 * without a default is set; its components that cannot be null are then required. A map from names to records has a
 * record for each name that the configuration has in its group. A component of a sealed type has the settings of each
 * of its records, all optional; its value is not bound.
 */
public final class Binder {

    private static final Map<Class<?>, SettingType<?>> TYPES = Map.ofEntries(
            Map.entry(String.class, SettingType.STRING),
            Map.entry(int.class, SettingType.INTEGER),
            Map.entry(Integer.class, SettingType.INTEGER),
            Map.entry(long.class, SettingType.INTEGER),
            Map.entry(short.class, SettingType.INTEGER),
            Map.entry(Duration.class, SettingType.DURATION),
            Map.entry(boolean.class, SettingType.BOOLEAN),
            Map.entry(HostPort.class, SettingType.HOST_PORT),
            Map.entry(Path.class, SettingType.PATH),
            Map.entry(URI.class, SettingType.URL));

    private static final Set<Class<?>> OPTIONAL = Set.of(Optional.class, Map.class);
    private static final Map<Class<?>, Object> ABSENT =
            Map.of(Optional.class, Optional.empty(), List.class, List.of(), Set.class, Set.of(), Map.class, Map.of());

    /** Annotations are slow to read. */
    private static final ClassValue<List<Part>> PARTS = new ClassValue<>() {
        @Override
        protected List<Part> computeValue(Class<?> type) {
            return Stream.of(type.getRecordComponents())
                    .map(component -> part(type, component))
                    .toList();
        }
    };

    private Binder() {}

    /**
     * A component of a record.
     *
     * @param row null if the component is no setting
     * @param group of the settings of a component that has several; empty for none
     * @param nested type of what has these settings
     */
    private record Part(
            RecordComponent component, @Nullable Setting<?> row, boolean nullable, String group, Class<?> nested) {

        String name() {
            return component.getName();
        }

        Class<?> type() {
            return component.getType();
        }

        List<Setting<?>> rows() {
            if (row != null) {
                return List.of(row);
            }
            Stream<Setting<?>> rows = nested.isRecord()
                    ? Binder.rows(nested).stream()
                    : permitted(nested)
                            .flatMap(kind -> Binder.rows(kind).stream())
                            .map(Setting::optionally);
            String prefix = type() == nested ? group : group + ".*";
            return rows.<Setting<?>>map(each -> nullable ? each.optionally() : each)
                    .<Setting<?>>map(each -> prefix.isEmpty() ? each : each.under(prefix))
                    .toList();
        }

        private static Stream<Class<?>> permitted(Class<?> type) {
            return type.isSealed() ? Stream.of(type.getPermittedSubclasses()).filter(Class::isRecord) : Stream.empty();
        }

        @Nullable Object bind(Configuration configuration) {
            Class<? extends Record> record = nested.asSubclass(Record.class);
            if (type() != nested) {
                return configuration.names(group).stream()
                        .collect(Collectors.toMap(
                                name -> name,
                                name -> Binder.bind(record, configuration.at(group + "." + name), Map.of())));
            }
            Configuration own = group.isEmpty() ? configuration : configuration.at(group);
            return nullable ? find(record, own).orElse(null) : Binder.bind(record, own, Map.of());
        }
    }

    /** The settings of a record, in the order of its components. */
    public static List<Setting<?>> rows(Class<?> type) {
        return PARTS.get(type).stream().flatMap(part -> part.rows().stream()).toList();
    }

    /** The setting of that key among those of a record. */
    public static Setting<?> row(Class<?> type, String key) {
        return rows(type).stream()
                .filter(row -> row.key().equals(key))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("no setting " + key + " of " + type));
    }

    /** The record with all defaults. */
    public static <R extends Record> R defaults(Class<R> type) {
        return defaults(type, Map.of());
    }

    /** The record with these values of components, by name, and defaults for the rest. */
    public static <R extends Record> R defaults(Class<R> type, Map<String, ?> others) {
        return construct(type, part -> {
            if (others.containsKey(part.name())) {
                return others.get(part.name());
            }
            if (part.row != null && part.row.defaultValue() != null) {
                return shaped(part.type(), part.row.defaultValue());
            }
            return part.row == null && part.type().isRecord() && !part.nullable
                    ? defaults(part.type().asSubclass(Record.class))
                    : ABSENT.get(part.type());
        });
    }

    /**
     * The record with one component replaced.
     *
     * @throws IllegalArgumentException the record does not accept the value
     */
    public static <R extends Record> R with(R record, String name, @Nullable Object value) {
        return construct(record, part -> part.name().equals(name) ? value : read(record, part.component));
    }

    /**
     * The record with the component of the value's type replaced.
     *
     * @throws IllegalArgumentException there is not exactly one such component, or the record does not accept the value
     */
    public static <R extends Record> R with(R record, Object value) {
        List<String> names = PARTS.get(record.getClass()).stream()
                .filter(part -> part.type().isInstance(value))
                .map(Part::name)
                .toList();
        if (names.size() != 1) {
            throw new IllegalArgumentException(
                    record.getClass().getSimpleName() + " has " + names + " of type " + value.getClass());
        }
        return with(record, names.get(0), value);
    }

    static <R extends Record> R bind(Class<R> type, Configuration configuration, Map<String, ?> others) {
        return construct(type, part -> {
            if (part.row != null) {
                return configuration
                        .find(part.row)
                        .map(value -> shaped(part.type(), value))
                        .orElseGet(() ->
                                others.containsKey(part.name()) ? others.get(part.name()) : ABSENT.get(part.type()));
            }
            if (others.containsKey(part.name())) {
                return others.get(part.name());
            }
            return part.nested.isRecord() ? part.bind(configuration) : secretFile(type, part.name(), configuration);
        });
    }

    /** For a component such as {@code passwordFile}: the file that the secret {@code password} was read from. */
    private static @Nullable Object secretFile(Class<?> type, String name, Configuration configuration) {
        for (Part secret : PARTS.get(type)) {
            if (secret.row != null && name.equals(secret.name() + Schema.FILE_SUFFIX)) {
                return configuration.fileOf(secret.row).orElse(null);
            }
        }
        return null;
    }

    private static String group(AnnotatedElement element) {
        return Optional.ofNullable(element.getAnnotation(Configured.Group.class))
                .map(group -> group.value() + ".")
                .orElse("");
    }

    /** The record, unless none of its settings without a default is set. */
    static <R extends Record> Optional<R> find(Class<R> type, Configuration group) {
        List<Setting<?>> own =
                rows(type).stream().filter(row -> row.defaultValue() == null).toList();
        if (own.stream().noneMatch(group::has)) {
            return Optional.empty();
        }
        List<Setting<?>> required = own.stream().filter(Setting::isRequired).toList();
        if (!required.stream().allMatch(group::has)) {
            throw new IllegalArgumentException(
                    required.stream().map(Setting::key).collect(Collectors.joining(" and "))
                            + " must be set together: "
                            + required.stream()
                                    .map(row -> row.key() + " is " + (group.has(row) ? "set" : "not set"))
                                    .collect(Collectors.joining(", ")));
        }
        return Optional.of(bind(type, group, Map.of()));
    }

    private static Part part(Class<?> type, RecordComponent component) {
        Configured configured = component.getAnnotation(Configured.class);
        boolean nullable = component.getAnnotatedType().isAnnotationPresent(Nullable.class);
        if (configured == null) {
            String group = (group(type) + group(component)).replaceFirst("\\.$", "");
            Class<?> nested = component.getGenericType() instanceof ParameterizedType map
                            && map.getRawType() == Map.class
                            && map.getActualTypeArguments()[1] instanceof Class<?> each
                    ? each
                    : component.getType();
            return new Part(component, null, nullable, group, nested);
        }
        String key = configured.key().isEmpty() ? group(type) + component.getName() : configured.key();
        boolean optional = nullable || configured.optional() || OPTIONAL.contains(component.getType());
        SettingType<?> settingType = type(component.getGenericType(), configured.bytes());
        return new Part(component, row(key, settingType, optional, configured), nullable, "", component.getType());
    }

    private static <T> Setting<T> row(String key, SettingType<T> type, boolean optional, Configured from) {
        // The check of a component is one of its type.
        @SuppressWarnings("unchecked")
        Consumer<T> check = (Consumer<T>) instance(from.check());
        return new Setting<>(
                key,
                type,
                from.value(),
                optional && from.byDefault().isEmpty(),
                from.secret(),
                parsed(type, from.byDefault()),
                parsed(type, from.range().split("\\.\\.", 2)[0]),
                parsed(type, from.range().replaceFirst("^.*\\.\\.", "")),
                from.example().isEmpty() ? null : from.example(),
                check,
                from.former().isEmpty() ? null : from.former());
    }

    private static <T> @Nullable T parsed(SettingType<T> type, String text) {
        return text.isEmpty() ? null : type.parser().apply(text);
    }

    private static SettingType<?> type(Type declared, boolean bytes) {
        if (declared instanceof ParameterizedType generic) {
            Type element = generic.getActualTypeArguments()[0];
            if (generic.getRawType() == Optional.class) {
                return type(element, bytes);
            }
            if (generic.getRawType() == Map.class) {
                return SettingType.PROPERTIES;
            }
            return element == URI.class ? SettingType.URIS : SettingType.TEXTS;
        }
        Class<?> type = (Class<?>) declared;
        if (type.isEnum()) {
            // Enum itself is no enum.
            @SuppressWarnings({"unchecked", "rawtypes"})
            SettingType<?> choice = SettingType.choice((Class) type);
            return choice;
        }
        return Objects.requireNonNull(
                bytes ? SettingType.BYTES : TYPES.get(type), () -> "no setting can be of type " + type);
    }

    /** A value as the component holds it. */
    private static Object shaped(Class<?> type, Object value) {
        if (type == Optional.class) {
            return Optional.of(value);
        }
        if (type == Set.class) {
            return Set.copyOf((Collection<?>) value);
        }
        if (type == long.class) {
            return ((Number) value).longValue();
        }
        if (type == short.class) {
            return ((Number) value).shortValue();
        }
        return value instanceof Long number ? (Object) Math.toIntExact(number) : value;
    }

    /** Value of a component of a new record. */
    private interface Value {
        @Nullable Object of(Part part);
    }

    // The class of a record is its type.
    @SuppressWarnings("unchecked")
    private static <R extends Record> R construct(R record, Value value) {
        return construct((Class<R>) record.getClass(), value);
    }

    private static <R extends Record> R construct(Class<R> type, Value value) {
        List<Part> parts = PARTS.get(type);
        Object[] values = parts.stream().map(value::of).toArray();
        Class<?>[] types = parts.stream().map(Part::type).toArray(Class<?>[]::new);
        return reflected(() -> {
            Constructor<R> constructor = type.getDeclaredConstructor(types);
            constructor.setAccessible(true);
            return constructor.newInstance(values);
        });
    }

    private static @Nullable Object read(Record record, RecordComponent component) {
        return reflected(() -> {
            component.getAccessor().setAccessible(true);
            return component.getAccessor().invoke(record);
        });
    }

    private static <T> T instance(Class<T> type) {
        return reflected(() -> {
            Constructor<T> constructor = type.getDeclaredConstructor();
            constructor.setAccessible(true);
            return constructor.newInstance();
        });
    }

    /** A reflective call. */
    private interface Reflected<T> {
        T get() throws ReflectiveOperationException;
    }

    private static <T> T reflected(Reflected<T> call) {
        try {
            return call.get();
        } catch (InvocationTargetException e) {
            if (e.getCause() instanceof RuntimeException problem) {
                throw problem;
            }
            throw new IllegalStateException(e.getCause());
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }
}
