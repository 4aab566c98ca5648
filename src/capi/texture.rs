//! The C API of textures, including staging textures (docs/spec/textures.md).

use super::accelerator::access_type;
use super::accelerator_view::handle_of;
use super::guard::{guard, guard_release};
use super::handle::{get, insert, release, retain};
use super::pointer;
use super::types::*;
use crate::error::{Error, Result};
use crate::geometry::{ComponentKind, TexelFormat, TextureShape};
use crate::runtime::accelerators::accelerator_view::AcceleratorView;
use crate::runtime::data::texture::{StorageWish, Texture, TextureRegion, TextureRequest};
use std::ffi::c_void;

const KINDS: [(revamp_component_kind, ComponentKind); 6] = [
    (REVAMP_COMPONENT_INT, ComponentKind::Int),
    (REVAMP_COMPONENT_UINT, ComponentKind::Uint),
    (REVAMP_COMPONENT_FLOAT, ComponentKind::Float),
    (REVAMP_COMPONENT_NORM, ComponentKind::Norm),
    (REVAMP_COMPONENT_UNORM, ComponentKind::Unorm),
    (REVAMP_COMPONENT_DOUBLE, ComponentKind::Double),
];

/// The extent of a level, with 1 for dimensions that the texture does not have.
fn extent_of(shape: &TextureShape, level: u32) -> [i32; 3] {
    let mut all = [1; 3];
    all.iter_mut().zip(shape.extent(level)).for_each(|(to, from)| *to = from as i32);
    all
}

/// The shape of a texture with these options.
///
/// # Safety
/// The options' extent is null or has `rank` readable values.
pub(super) unsafe fn shape_of(o: &revamp_texture_options) -> Result<TextureShape> {
    let kind = KINDS.iter().find(|(value, _)| *value == o.component_kind);
    let Some(&(_, kind)) = kind else {
        return Err(Error::invalid(format!(
            "the kind of component {} is unknown; use a REVAMP_COMPONENT_ value",
            o.component_kind
        )));
    };
    let format = TexelFormat::new(kind, o.components, o.bits)?;
    // TextureShape::new() refuses ranks above 3.
    let rank = o.rank.min(4) as usize;
    // SAFETY: the same contract.
    let extent = unsafe { pointer::slice(o.extent, rank, "extent") }?;
    let levels = match o.levels {
        0 => Some(1),
        REVAMP_ALL_LEVELS => None,
        some => Some(some),
    };
    TextureShape::new(format, extent, levels)
}

/// Makes a texture that lives on `view`. Its contents are undefined. On a view of the cpu it is a
/// staging texture, which needs an associated view on another accelerator. Release it with
/// revamp_texture_release().
/// Errors: REVAMP_ERROR_RUNTIME or _INVALID_ARGUMENT for bad options (TEX-5, TEX-8),
/// REVAMP_ERROR_UNSUPPORTED_FEATURE for bits or a number of components that the kind does not allow
/// (TEX-6), for a texture on the cpu that is not a staging texture (TEX-7), and for an image that
/// the accelerator does not support, REVAMP_ERROR_OUT_OF_MEMORY if there is not enough memory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_texture_create(
    view: revamp_accelerator_view,
    options: *const revamp_texture_options,
    texture: *mut revamp_texture,
) -> revamp_status {
    guard(|| {
        pointer::check_out(texture, "texture")?;
        let view = get::<AcceleratorView, _>(view)?;
        // SAFETY: the caller vouches for a readable struct and its pointers.
        let (o, shape, label) = unsafe {
            let o = pointer::read(options)?;
            let shape = shape_of(&o)?;
            let label = pointer::optional_text(o.label, "label")?;
            (o, shape, label)
        };
        let storage = match o.storage {
            REVAMP_TEXTURE_STORAGE_AUTO => StorageWish::Auto,
            REVAMP_TEXTURE_STORAGE_TEXELS => StorageWish::Texels,
            REVAMP_TEXTURE_STORAGE_IMAGE => StorageWish::Image,
            other => {
                return Err(Error::invalid(format!(
                    "the texture storage {other} is unknown; use a REVAMP_TEXTURE_STORAGE_ value"
                )));
            }
        };
        let associated =
            if o.associated_view.is_null() { None } else { Some(get::<AcceleratorView, _>(o.associated_view)?) };
        let handle =
            insert(Texture::create(TextureRequest { view, shape, associated, storage, label, memory: None })?)?;
        // SAFETY: checked; the caller vouches for it being writable.
        unsafe { pointer::write(texture, "texture", handle) }
    })
}

/// Adds an owner of the texture.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_texture_retain(texture: revamp_texture) -> revamp_status {
    guard(|| retain::<Texture, _>(texture))
}

/// Removes an owner of the texture. The memory lives until queued work that uses it is done.
/// Pointers from revamp_texture_data() become invalid with the last owner.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_texture_release(texture: revamp_texture) -> revamp_status {
    guard_release(|| release::<Texture, _>(texture))
}

/// Fills `info` (set struct_size first).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_texture_get_info(
    texture: revamp_texture,
    info: *mut revamp_texture_info,
) -> revamp_status {
    guard(|| {
        let texture = get::<Texture, _>(texture)?;
        let (shape, array) = (texture.shape(), texture.array());
        let format = shape.format();
        let (row_pitch, depth_pitch) = texture.pitches();
        let filled = revamp_texture_info {
            struct_size: 0,
            rank: shape.rank() as u32,
            extent: extent_of(shape, 0),
            component_kind: KINDS.iter().find(|(_, k)| *k == format.kind).map_or(0, |(value, _)| *value),
            components: format.components,
            bits: format.bits,
            levels: shape.levels(),
            storage: if texture.is_image() { REVAMP_TEXTURE_STORAGE_IMAGE } else { REVAMP_TEXTURE_STORAGE_TEXELS },
            texel_size: format.bytes() as u32,
            size: shape.bytes(),
            row_pitch,
            depth_pitch,
            view: handle_of(array.view())?,
            associated_view: handle_of(array.associated_view())?,
        };
        // SAFETY: the caller vouches for a writable struct or NULL.
        unsafe { pointer::write_info(info, filled) }
    })
}

/// Fills `info` (set struct_size first) for a level.
/// Errors: REVAMP_ERROR_RUNTIME if the texture has no such level (TEX-15).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_texture_get_level(
    texture: revamp_texture,
    level: u32,
    info: *mut revamp_texture_level_info,
) -> revamp_status {
    guard(|| {
        let texture = get::<Texture, _>(texture)?;
        let shape = texture.shape();
        shape.range(level, 1)?;
        let layout = shape.level(level);
        let filled = revamp_texture_level_info {
            struct_size: 0,
            extent: extent_of(shape, level),
            offset: layout.offset,
            size: layout.bytes(),
        };
        // SAFETY: the caller vouches for a writable struct or NULL.
        unsafe { pointer::write_info(info, filled) }
    })
}

/// Gives the address of a staging texture's first texel on the host: texel (d, r, c) is at
/// d * depth_pitch + r * row_pitch + c * texel_size. Waits until queued work that conflicts with
/// `access` (READ, WRITE or READ_WRITE) is done. The pointer becomes invalid when a copy that
/// involves the texture begins (rule TEX-72). Gives NULL for textures that are not staging textures
/// (TEX-70).
/// Errors: those of revamp_array_data().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn revamp_texture_data(
    texture: revamp_texture,
    access: revamp_access,
    data: *mut *mut c_void,
) -> revamp_status {
    guard(|| {
        pointer::check_out(data, "data")?;
        let span = get::<Texture, _>(texture)?.host_data(access_type(access)?)?;
        let first = span.map_or(std::ptr::null_mut(), |s| s.as_ptr().cast());
        // SAFETY: checked; the caller vouches for it being writable.
        unsafe { pointer::write(data, "data", first) }
    })
}

/// Reads a region of a texture.
///
/// # Safety
/// `region` is null or points to a valid struct whose pointers are valid as the header says.
pub(super) unsafe fn texture_region(region: *const revamp_texture_region, which: &str) -> Result<TextureRegion> {
    // SAFETY: the same contract.
    let r = unsafe { pointer::read(region) }.map_err(|e| e.context(format_args!("the {which}")))?;
    let texture = get::<Texture, _>(r.texture)?;
    let rank = texture.shape().rank();
    // SAFETY: the caller vouches for as many values as the texture has dimensions.
    let (origin, extent) = unsafe {
        (pointer::optional_slice(r.origin, rank, "origin")?, pointer::optional_slice(r.extent, rank, "extent")?)
    };
    TextureRegion::new(texture, r.level, r.level_count, origin, extent)
        .map_err(|e| e.context(format_args!("the {which}")))
}
