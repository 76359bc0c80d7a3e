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
import java.util.ArrayList;
import java.util.Arrays;
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
 * <p>Components are texts, integers, durations, booleans, enums, {@link HostPort}, {@link Path}, {@link URI}, lists and sets
 * of texts or URLs, maps of properties, and records of these. A nullable record is null unless one of its settings without a
 * default is set; its components that cannot be null are then required.
 */
public final class Binder {

    private Binder() {}

    /** The settings of a record, in the order of its components. */
    public static List<Setting<?>> rows(Class<? extends Record> type) {
        return rows(type, false);
    }

    /** The setting of that key among those of a record. */
    public static Setting<?> row(Class<? extends Record> type, String key) {
        return rows(type).stream()
                .filter(row -> row.key().equals(key))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("no setting " + key + " of " + type));
    }

    /** The record with all defaults. */
    public static <R extends Record> R defaults(Class<R> type) {
        return defaults(type, Map.of());
    }

    /** The record with all defaults, and these values of components without one, by name. */
    public static <R extends Record> R defaults(Class<R> type, Map<String, ?> others) {
        Schema schema = new Schema(
                rows(type).stream().<Setting<?>>map(Setting::optionally).toList());
        return bind(type, new Loader(schema).load(null, Map.of(), Map.of(), List.of()), others);
    }

    /**
     * The record with one component replaced.
     *
     * @throws IllegalArgumentException the record does not accept the value
     */
    public static <R extends Record> R with(R record, String name, @Nullable Object value) {
        return construct(record, component -> component.getName().equals(name) ? value : read(record, component));
    }

    /**
     * The record with the component of the value's type replaced.
     *
     * @throws IllegalArgumentException there is not exactly one such component, or the record does not accept the value
     */
    public static <R extends Record> R with(R record, Object value) {
        List<String> names = Stream.of(record.getClass().getRecordComponents())
                .filter(component -> component.getType().isInstance(value))
                .map(RecordComponent::getName)
                .toList();
        if (names.size() != 1) {
            throw new IllegalArgumentException(
                    record.getClass().getSimpleName() + " has " + names + " of type " + value.getClass());
        }
        return with(record, names.get(0), value);
    }

    static <R extends Record> R bind(Class<R> type, Configuration configuration, Map<String, ?> others) {
        Configuration group = group(type).map(configuration::at).orElse(configuration);
        return construct(type, component -> {
            String name = component.getName();
            Configured configured = component.getAnnotation(Configured.class);
            if (configured != null) {
                return (configured.key().isEmpty() ? group : configuration)
                        .find(row(component, configured))
                        .map(value -> shaped(component.getType(), value))
                        .orElseGet(() -> others.containsKey(name) ? others.get(name) : absent(component.getType()));
            }
            if (others.containsKey(name)) {
                return others.get(name);
            }
            if (component.getType().isRecord()) {
                Class<? extends Record> nested = component.getType().asSubclass(Record.class);
                return isNullable(component) ? find(nested, group).orElse(null) : bind(nested, group, Map.of());
            }
            return secretFile(type, name, group);
        });
    }

    /** For a component such as {@code passwordFile}: the file that the secret {@code password} was read from. */
    private static @Nullable Object secretFile(Class<?> type, String name, Configuration group) {
        return Stream.of(type.getRecordComponents())
                .filter(secret -> name.equals(secret.getName() + Schema.FILE_SUFFIX))
                .findFirst()
                .flatMap(secret -> group.fileOf(row(secret, secret.getAnnotation(Configured.class))))
                .orElse(null);
    }

    private static List<Setting<?>> rows(Class<?> type, boolean optional) {
        List<Setting<?>> rows = new ArrayList<>();
        for (RecordComponent component : type.getRecordComponents()) {
            Configured configured = component.getAnnotation(Configured.class);
            if (configured != null) {
                Setting<?> row = row(component, configured);
                rows.add(under(configured.key().isEmpty() ? type : null, optional ? row.optionally() : row));
            } else if (component.getType().isRecord()) {
                rows(component.getType(), optional || isNullable(component)).forEach(row -> rows.add(under(type, row)));
            }
        }
        return rows;
    }

    private static Setting<?> under(@Nullable Class<?> type, Setting<?> row) {
        return type == null ? row : group(type).<Setting<?>>map(row::under).orElse(row);
    }

    private static Optional<String> group(AnnotatedElement type) {
        return Optional.ofNullable(type.getAnnotation(Configured.Group.class)).map(Configured.Group::value);
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

    private static Setting<?> row(RecordComponent component, Configured configured) {
        String key = configured.key().isEmpty() ? component.getName() : configured.key();
        boolean optional = configured.optional()
                || isNullable(component)
                || component.getType() == Optional.class
                || component.getType() == Map.class;
        return row(key, type(component.getGenericType(), configured.bytes()), optional, configured);
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

    private static @Nullable Object absent(Class<?> type) {
        return Map.of(Optional.class, Optional.empty(), List.class, List.of(), Set.class, Set.of(), Map.class, Map.of())
                .get(type);
    }

    private static boolean isNullable(RecordComponent component) {
        return component.getAnnotatedType().isAnnotationPresent(Nullable.class);
    }

    /** What a component of a new record is. */
    private interface Value {
        @Nullable Object of(RecordComponent component);
    }

    // The class of a record is its type.
    @SuppressWarnings("unchecked")
    private static <R extends Record> R construct(R record, Value value) {
        return construct((Class<R>) record.getClass(), value);
    }

    private static <R extends Record> R construct(Class<R> type, Value value) {
        RecordComponent[] components = type.getRecordComponents();
        Object[] values = Stream.of(components).map(value::of).toArray();
        Class<?>[] types =
                Arrays.stream(components).map(RecordComponent::getType).toArray(Class<?>[]::new);
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

    /** Something done by reflection. */
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
